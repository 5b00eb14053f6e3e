# The short form of tests/attack: what users may try on a cluster with sales.

load lib

@test "no attack of the list gets through" {
	need_plugins
	[ -n "${AUCTION_PREFIX-}" ] || skip "tests/attack needs an installation"
	type -P cc > /dev/null && [ -e /usr/include/slurm/slurm.h ] || skip "no C compiler or no Slurm headers"
	"$lib_dir/../attack/run" --prefix "$AUCTION_PREFIX" --short 3>&-
}
