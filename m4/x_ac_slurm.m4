# X_AC_SLURM - Slurm's public headers, by pkg-config, else by path; their exact version; where plugins are installed.
#
# Output: SLURM_CPPFLAGS, SLURM_LIBS, slurm_plugin_dir (substituted); HAVE_SLURM (conditional); BUILT_FOR_SLURM (config.h).
# Debian ships no slurm.pc, so the path is the usual case there.
AC_DEFUN([X_AC_SLURM], [
	AC_ARG_WITH([slurm],
		[AS_HELP_STRING([--with-slurm=PREFIX], [Slurm's installation (headers in PREFIX/include); "no" builds libauction and its commands only])],
		[], [with_slurm=yes])
	AC_ARG_WITH([plugindir],
		[AS_HELP_STRING([--with-plugindir=DIR], [where plugins are installed (default: LIBDIR/slurm-auction)])],
		[], [with_plugindir=yes])
	x_ac_have_slurm=no
	x_ac_slurm_summary=none
	AS_IF([test "x$with_slurm" = xyes], [
		PKG_CHECK_EXISTS([slurm], [
			PKG_CHECK_MODULES([SLURM_PC], [slurm], [
				SLURM_CPPFLAGS="$SLURM_PC_CFLAGS"
				SLURM_LIBS="$SLURM_PC_LIBS"])])])
	AS_CASE([$with_slurm], [yes|no], [], [
		SLURM_CPPFLAGS="-isystem $with_slurm/include" # whose warnings are not ours
		SLURM_LIBS="-L$with_slurm/lib"])
	AS_IF([test "x$with_slurm" != xno], [
		AS_IF([test -z "$SLURM_LIBS" || test "x$with_slurm" != xyes], [SLURM_LIBS="$SLURM_LIBS -lslurm"])
		x_ac_save_CPPFLAGS="$CPPFLAGS"
		CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
		AC_CHECK_HEADER([slurm/slurm.h], [x_ac_have_slurm=yes],
			[AC_MSG_ERROR([slurm/slurm.h not found; on Debian: apt install libslurm-dev, or give --with-slurm=PREFIX, or --without-slurm])])
		AC_MSG_CHECKING([the version of Slurm's headers])
		AC_COMPUTE_INT([x_ac_slurm_major], [SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER)], [@%:@include <slurm/slurm.h>])
		AC_COMPUTE_INT([x_ac_slurm_minor], [SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER)], [@%:@include <slurm/slurm.h>])
		AC_COMPUTE_INT([x_ac_slurm_micro], [SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER)], [@%:@include <slurm/slurm.h>])
		x_ac_slurm_version=$(printf '%d.%02d.%d' "$x_ac_slurm_major" "$x_ac_slurm_minor" "$x_ac_slurm_micro")
		AC_MSG_RESULT([$x_ac_slurm_version])
		AC_DEFINE_UNQUOTED([BUILT_FOR_SLURM], ["$x_ac_slurm_version"], [Version of the Slurm headers this was built with])
		x_ac_slurm_summary="$x_ac_slurm_version"
		# From 25.11 on numbers of jobs are inside step ids.
		AC_CHECK_MEMBERS([slurm_job_info_t.job_id], [], [], [[@%:@include <slurm/slurm.h>]])
		AC_CHECK_DECL([slurm_free_ctl_conf], [],
			[AC_DEFINE([slurm_free_ctl_conf], [slurm_free_conf], [What newer releases call it])],
			[[@%:@include <slurm/slurm.h>]])
		CPPFLAGS="$x_ac_save_CPPFLAGS"
	])
	AS_IF([test "x$with_plugindir" = xyes], [slurm_plugin_dir='${libdir}/slurm-auction'], [slurm_plugin_dir="$with_plugindir"])
	AM_CONDITIONAL([HAVE_SLURM], [test "x$x_ac_have_slurm" = xyes])
	AC_SUBST([SLURM_CPPFLAGS])
	AC_SUBST([SLURM_LIBS])
	AC_SUBST([slurm_plugin_dir])
])
