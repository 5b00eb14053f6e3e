# X_AC_GLPK - GLPK solves policy offline of the simulator; without it that policy says so. Of the free solvers it is the one whose
# licence goes with ours. It has no pkg-config file.
AC_DEFUN([X_AC_GLPK], [
	GLPK_LIBS=
	x_ac_have_glpk=no
	AC_CHECK_HEADER([glpk.h], [AC_CHECK_LIB([glpk], [glp_intopt], [x_ac_have_glpk=yes])])
	AS_IF([test "x$x_ac_have_glpk" = xyes],
		[GLPK_LIBS=-lglpk
		AC_DEFINE([HAVE_GLPK], [1], [Define to 1 if GLPK is there.])],
		[AC_MSG_WARN([GLPK not found: auctionsim has no policy offline; on Debian: apt install libglpk-dev])])
	AC_SUBST([GLPK_LIBS])
])
