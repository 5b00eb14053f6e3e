/* srun_line.c - see srun_line.h. */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "adapter/secrets.h"
#include "adapter/slurm_compat.h"
#include "spank/auction/srun_line.h"

static char *join(const char *command, size_t len);
static bool reads_as(uintptr_t at, const char *text, char *seen, size_t size);

void auc_srun_forget_line(const char *command, size_t len)
{
	/* srun's options, whose layout no public header says: its line is the text among them. */
	void *all = dlsym(RTLD_DEFAULT, "opt");
	char *line = join(command, len), *seen = malloc(len + 1);
	const ElfW(Sym) *symbol = NULL;
	unsigned found = 0;
	Dl_info info;

	if (!all || !line || !seen || !dladdr1(all, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol)
		goto out;
	for (size_t i = 0; i + sizeof(uintptr_t) <= symbol->st_size; i += sizeof(uintptr_t)) {
		job_desc_msg_t desc = {0};
		uintptr_t at;

		memcpy(&at, (const char *)all + i, sizeof(at));
		if (!at || !reads_as(at, line, seen, strlen(line) + 1))
			continue;
		desc.submit_line = (char *)at;
		auc_desc_forget_secrets(&desc);
		found++;
	}
	slurm_debug("auction: srun's line was found %u times", found);
out:
	free(line);
	free(seen);
}

/* As srun joins them; NULL: no memory, or there are none. */
static char *join(const char *command, size_t len)
{
	char *line = len ? malloc(len + 1) : NULL;

	if (!line)
		return NULL;
	memcpy(line, command, len);
	line[len] = '\0';
	for (size_t i = 0; i + 1 < len; i++)
		if (!line[i])
			line[i] = ' ';
	return line;
}

/* True if TEXT, of SIZE bytes with its NUL, is at AT, which may be no address at all. */
static bool reads_as(uintptr_t at, const char *text, char *seen, size_t size)
{
	struct iovec here = {.iov_base = seen, .iov_len = size};
	struct iovec there = {.iov_base = (void *)at, .iov_len = size};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size &&
	       !memcmp(seen, text, size);
}
