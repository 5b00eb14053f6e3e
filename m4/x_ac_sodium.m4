# X_AC_SODIUM - libsodium, required: seals what users bid.
AC_DEFUN([X_AC_SODIUM], [
	PKG_CHECK_MODULES([SODIUM], [libsodium >= 1.0.18], [],
		[AC_MSG_ERROR([libsodium 1.0.18 or later not found; on Debian: apt install libsodium-dev])])
])
