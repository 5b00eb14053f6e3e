# X_AC_COMPLETION - where bash completions are installed.
AC_DEFUN([X_AC_COMPLETION], [
	AC_ARG_WITH([bash-completion-dir],
		[AS_HELP_STRING([--with-bash-completion-dir=DIR], [default: DATADIR/bash-completion/completions])],
		[], [with_bash_completion_dir='${datadir}/bash-completion/completions'])
	bashcompletiondir="$with_bash_completion_dir"
	AC_SUBST([bashcompletiondir])
])
