# X_AC_XXHASH - libxxhash, required.
AC_DEFUN([X_AC_XXHASH], [
	PKG_CHECK_MODULES([XXHASH], [libxxhash >= 0.8.0], [],
		[AC_MSG_ERROR([libxxhash 0.8.0 or later not found; on Debian: apt install libxxhash-dev])])
])
