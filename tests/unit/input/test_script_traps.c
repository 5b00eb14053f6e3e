/* test_script_traps.c - whether a script handles a signal, read of what people write. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/script_traps.h"

#define BASH "#!/bin/bash\n#SBATCH -N2\n"
#define PY   "#!/usr/bin/env python3\nimport signal\n"

static void test_scripts(void **state)
{
	static const struct {
		const char *script;
		bool handled;
	} cases[] = {
		{BASH "trap 'touch stop' USR1\nsrun prog &\nwait\n", true},
		{BASH "trap stop_it SIGUSR1", true},
		{BASH "trap \"echo it's over; exit 0\" TERM usr1 # the end\n", true},
		{BASH "trap -- : 10\n", true},
		{BASH "trap 'a\nb' \\\n\tUSR1\n", true},
		{"#!/bin/bash\r\ntrap save USR1\r\nsrun prog\r\n", true},
		{"#!/usr/bin/env -S bash -l\ntrap save USR1\n", true},
		{"#! /bin/sh -e\ntrap save USR1; srun prog &\nwait\n", true},
		{BASH "exec > log 2>&1\nexec 3< in &> more\ntrap save USR1\n", true},
		{BASH "trap save USR1\nsingularity exec image.sif prog\n", true},
		{BASH "cat > x <<-END\n\tnothing\n\tEND\ntrap save USR1\ncat <<< text\n", true},
		{BASH "echo $((1 + 2)) ${#a} $# it\\'s\ntrap save USR1\n", true},
		/* none, another one, or one that is taken back */
		{BASH "srun prog\n", false},
		{BASH "trap save USR2 TERM 1 100\n", false},
		{BASH "trap save USR1\nwait\ntrap - USR1\n", false},
		{BASH "trap '' USR1\n", false},
		{BASH "trap USR1\n", false},
		{BASH "trap -p USR1\n", false},
		{BASH "trap save; USR1\n", false},
		{BASH "trap save TERM # not USR1\n", false},
		/* not surely */
		{BASH "# trap save USR1\n", false},
		{BASH "f()\n{\n\ttrap save USR1\n}\n", false},
		{BASH "[ -z \"$a\" ] || trap save USR1\n", false},
		{BASH "bash -c '\ntrap save USR1\n'\n", false},
		{BASH "cat > x <<'END'\ntrap save USR1\nEND\n", false},
		{BASH "cat > x <<-\"END\"\ntrap save USR1\n\tEND\n", false},
		{BASH "cat<<E\ntrap save USR1\n", false},
		{BASH "trap save USR1\nexec srun prog\n", false},
		{BASH "trap save USR1\nif true; then exec srun prog; fi\n", false},
		{BASH "trap save USR1\ncd /tmp && exec \"$@\"\n", false},
		{BASH "trap 'save USR1", false},
		{BASH "trap save USR1", true},
		{BASH "trap \\", false},
		{BASH "trap <<", false},
		{"#!/bin/csh\ntrap save USR1\n", false},
		{"trap save USR1\n", false},
		{"", false},
		/* Python */
		{PY "signal.signal(signal.SIGUSR1, stop)\n", true},
		{PY "def main():\n    signal.signal( signal.SIGUSR1 , lambda *a: 0)\r\n", true},
		{PY "signal.signal(signal.SIGUSR2, stop)\n", false},
		{PY "# signal.signal(signal.SIGUSR1, stop)\n", false},
		{PY "signal.signal(signal.SIGUSR1, signal.SIG_DFL)\n", false},
		{PY "signal.signal(sig, stop)\nsignal.signal(signal.SIGUSR1\n", false},
		{PY "trap save USR1\n", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (auc_script_traps(cases[i].script, SIGUSR1) != cases[i].handled)
			fail_msg("%s", cases[i].script);
	assert_false(auc_script_traps(NULL, SIGUSR1));
	assert_false(auc_script_traps(cases[0].script, 0));
	assert_false(auc_script_traps(BASH "trap save -1\n", -1));
}

/* Every beginning of a script is read, and none beyond its end. */
static void test_beginnings(void **state)
{
	static const char script[] =
		BASH "trap \"a\\\n'b\" USR1 <<-E <<< x\nE\nexec 'x' {a}<<'F'\n";
	char copy[sizeof(script)];

	(void)state;
	for (size_t n = 0; n < sizeof(script); n++) {
		snprintf(copy, n + 1, "%s", script);
		(void)auc_script_traps(copy, SIGUSR1);
	}
}

/* No script is too deep for the stack of a thread. */
static void test_here_documents(void **state)
{
	static const char *const words[] = {"<< ", "<<-", "<< \\\n", "<<<", "<"};
	const size_t size = 1u << 20;
	char *script = malloc(size);

	(void)state;
	assert_non_null(script);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i]), n = strlen(BASH);

		memcpy(script, BASH, n);
		for (; n + len < size; n += len)
			memcpy(script + n, words[i], len);
		script[n] = '\0';
		assert_false(auc_script_traps(script, SIGUSR1));
	}
	free(script);
}

static void test_shells(void **state)
{
	(void)state;
	assert_true(auc_script_is_shell("#!/bin/sh\n"));
	assert_true(auc_script_is_shell("#! /usr/bin/env bash\n"));
	assert_false(auc_script_is_shell("#!/usr/bin/python3\n"));
	assert_false(auc_script_is_shell("#!\n"));
	assert_false(auc_script_is_shell("echo\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts), cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_here_documents), cmocka_unit_test(test_shells)};

	return cmocka_run_group_tests_name("script-traps", tests, NULL, NULL);
}
