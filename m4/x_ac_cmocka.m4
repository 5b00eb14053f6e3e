# X_AC_CMOCKA - cmocka for the unit tests; without it "make check" builds and runs none of them.
AC_DEFUN([X_AC_CMOCKA], [
	PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5], [x_ac_have_cmocka=yes],
		[x_ac_have_cmocka=no
		AC_MSG_WARN([cmocka not found: no unit tests; on Debian: apt install libcmocka-dev])])
	AM_CONDITIONAL([HAVE_CMOCKA], [test "x$x_ac_have_cmocka" = xyes])
])
