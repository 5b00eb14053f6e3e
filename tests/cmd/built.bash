# built.bash - the programs of the build tree, for the tests here. Their working directory is the build tree's tests/.

# libtool puts a script around each program, which takes ten times as long as the program does.
export LD_LIBRARY_PATH=$PWD/../common/.libs${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}

# built NAME: the path of sprice, slaunch or auction-train.
built()
{
	local dir=../contrib/${1#auction-}

	if [ -x "$dir/.libs/$1" ]; then
		echo "$dir/.libs/$1"
	else
		echo "$dir/$1"
	fi
}
