# config.bash - the files of a cluster: slurm.conf, gres.conf, slurmdbd.conf, auction.conf, keys, device files. Part of "sandbox".

# As "uname -n" has it.
read -r host_name < /proc/sys/kernel/hostname
host=${host_name%%.*}
stock_plugins=

# Where Slurm keeps its own plugins: below the prefix of the slurmctld that is run.
find_stock_plugins()
{
	local d prefix

	prefix=$(PATH=$PATH:/usr/sbin:/sbin type -P slurmctld)
	prefix=$(readlink -f "${prefix%/*}/..")
	for d in "$prefix"/lib/*/slurm-wlm "$prefix"/lib/*/slurm "$prefix"/lib64/slurm "$prefix"/lib/slurm; do
		if [ -e "$d/auth_munge.so" ]; then
			stock_plugins=$d
			return
		fi
	done
	die "Slurm's plugins (auth_munge.so) are not installed"
}

# The IPv4 address on this machine that its host name stands for; nothing if the name means nothing here.
host_address()
{
	local a

	a=$(timeout 5 getent ahostsv4 "$host_name" 2> /dev/null | awk 'NR == 1 {print $1}')
	case $a in
	127.*) printf '%s' "$a" ;;
	esac
}

# Reads one --nodes SPEC into n_list, n_partition, n_cpus, n_mem, n_threads, n_sockets, n_gpus (TYPE:N[+TYPE:N...] or empty), n_shards, n_features,
# n_tmp, n_switch, n_start.
node_parse()
{
	local word rest

	n_list=${1%%:*} n_partition= n_cpus=1 n_mem=1000 n_threads= n_sockets= n_gpus= n_shards= n_features= n_switch= n_start=yes n_tmp=
	[ "$n_list" != "$1" ] || die "--nodes $1: expected LIST:partition=P,cpus=N,mem=MB"
	rest=${1#*:}
	while [ -n "$rest" ]; do
		word=${rest%%,*}
		[ "$word" = "$rest" ] && rest= || rest=${rest#*,}
		case $word in
		partition=[!+]*) n_partition=${word#*=} ;;
		cpus=[1-9]*) n_cpus=${word#*=} ;;
		mem=[1-9]*) n_mem=${word#*=} ;;
		threads=[1-9]*) n_threads=${word#*=} ;;
		sockets=[1-9]*) n_sockets=${word#*=} ;;
		gpus=?*:[1-9]*) n_gpus=${word#*=} ;;
		shards=[1-9]*) n_shards=${word#*=} ;;
		tmp=[1-9]*) n_tmp=${word#*=} ;;
		features=?*) n_features=${word#*=} ;;
		switch=?*) n_switch=${word#*=} ;;
		start=yes | start=no | start=cloud | start=power) n_start=${word#*=} ;;
		*) die "--nodes $1: '$word': expected partition=P, cpus=N, mem=MB, threads=N, sockets=N, gpus=TYPE:N[+TYPE:N], shards=N, tmp=MB, features=F+F, switch=S or start=no|cloud|power" ;;
		esac
	done
	[ -n "$n_partition" ] || die "--nodes $1: expected partition=P"
}

# The names of a list such as edge[1-3,7],x: one a line. scontrol does the same, but needs a configuration to run.
node_names()
{
	local list=$1 prefix ranges r i from to

	while [[ $list =~ ^([^,[]+)(\[([0-9,-]+)\])?(,(.*))?$ ]]; do
		prefix=${BASH_REMATCH[1]} ranges=${BASH_REMATCH[3]} list=${BASH_REMATCH[5]}
		[ -n "$ranges" ] || echo "$prefix"
		for r in ${ranges//,/ }; do
			from=${r%-*} to=${r#*-}
			for ((i = 10#$from; i <= 10#$to; i++)); do
				printf '%s%0*d\n' "$prefix" ${#from} "$i"
			done
		done
		[ -n "$list" ] || return 0
	done
	die "--nodes: '$1': expected names such as edge[1-3]"
}

# The nodes that have a slurmd here, one a line.
started_nodes()
{
	local spec

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		[ "$n_start" != yes ] || node_names "$n_list"
	done
}

# Those that Slurm starts and stops as it needs them, one a line.
power_nodes()
{
	local spec

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		[ "$n_start" != power ] || node_names "$n_list"
	done
}

node_count()
{
	local spec

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		node_names "$n_list"
	done | wc -l
}

config_write()
{
	local u name script

	find_stock_plugins
	mkdir -p "$B"/{etc,run,log,munge,mysql,state,spool,dev,home} || die "cannot write to $B"
	# Others need to reach the sockets in these, and nothing else.
	chmod 755 "$B"/{etc,run,log,spool,dev,home}
	chmod 711 "$B"/{munge,mysql}
	chown slurm: "$B"/{run,log,state} || die "the user slurm does not exist (package slurm-wlm-basic-plugins)"
	chmod 700 "$B/state"
	for u in "${sandbox_users[@]}"; do
		name=${u%:*}
		mkdir -p "$B/home/$name"
		chown "$name:" "$B/home/$name"
		# Something to submit.
		for script in train.sh my-own.sh; do
			[ ! -r "$here/../demo/$script" ] || install -m 755 -o "$name" -g "$name" "$here/../demo/$script" "$B/home/$name/"
		done
	done
	if [ ! -s "$B/munge/key" ]; then
		(umask 077 && head -c 1024 /dev/urandom > "$B/munge/key")
	fi
	write_file "$B/etc/slurm.conf" print_slurm_conf
	write_file "$B/etc/gres.conf" print_gres_conf
	write_file "$B/etc/topology.conf" print_topology_conf
	write_file "$B/etc/plugstack.conf" print_plugstack_conf
	if [ -n "$AUCTION_CONF" ]; then
		write_file "$B/etc/auction.conf" cat "$AUCTION_CONF"
	else
		write_file "$B/etc/auction.conf" print_auction_conf
	fi
	write_file "$B/etc/cgroup.conf" print_cgroup_conf
	write_power_programs
	write_file "$B/etc/slurmdbd.conf" print_slurmdbd_conf
	chown slurm: "$B/etc/slurmdbd.conf"
	chmod 600 "$B/etc/slurmdbd.conf"
	make_devices
}

write_file()
{
	local file=$1

	shift
	"$@" > "$file.new" && mv "$file.new" "$file" || die "cannot write $file"
}

# How many GPUs n_gpus is.
gpu_count()
{
	local kind n=0

	for kind in ${n_gpus//+/ }; do
		n=$((n + ${kind##*:}))
	done
	echo "$n"
}

# GPUs are character devices of the driver's major number; nothing opens them. Where mknod is not allowed, links to /dev/null
# serve: what counts is that the file is a device and its name ends in the GPU's number.
make_devices()
{
	local spec i

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		for ((i = 0; i < $(gpu_count); i++)); do
			[ -c "$B/dev/nvidia$i" ] || mknod "$B/dev/nvidia$i" c 195 "$i" 2> /dev/null || ln -sf /dev/null "$B/dev/nvidia$i"
		done
	done
}

print_slurm_conf()
{
	local pair key lines

	lines=$(print_usual_slurm_conf)
	for pair in "${SET[@]+"${SET[@]}"}"; do
		key=${pair%%=*}
		lines=$(grep -vi "^$key=" <<< "$lines")
		lines+=$'\n'$pair
	done
	printf '%s\n' "$lines"
}

print_usual_slurm_conf()
{
	local address bind

	[ -n "$stock_plugins" ] || find_stock_plugins
	address=$(host_address)
	# Slurm can be told to listen on the address of its host name only. Where the name has none, it listens on all addresses
	# (munge still authenticates every message).
	if [ -n "$address" ]; then
		bind=CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
	else
		bind="# The host name has no loopback address here, so the daemons cannot be bound to one."
		address=127.0.0.1
	fi
	cat <<END
# A private cluster in $B, written by contrib/sandbox at every "up".
ClusterName=sandbox
SlurmctldHost=$host($address)
SlurmctldPort=$PORT_BASE
SlurmUser=slurm
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$B/munge/socket,cred_expire=30
CredType=cred/munge
$bind
StateSaveLocation=$B/state
SlurmdSpoolDir=$B/spool/%n
SlurmctldPidFile=$B/run/slurmctld.pid
SlurmdPidFile=$B/run/slurmd-%n.pid
SlurmctldLogFile=$B/log/slurmctld.log
SlurmdLogFile=$B/log/slurmd-%n.log
SlurmctldDebug=$DEBUG
SlurmdDebug=$DEBUG
LogTimeFormat=iso8601_ms
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=100
GresTypes=gpu$([[ ${NODES[*]} != *shards=* ]] || echo ,shard)
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=120
MessageTimeout=10
KillWait=2
MinJobAge=600
MaxJobCount=30000
SchedulerParameters=sched_interval=1,bf_interval=2,batch_sched_delay=0
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((PORT_BASE + 1))
AccountingStoragePass=socket=$B/munge/socket
AccountingStorageTRES=$(print_gpu_tres)
AccountingStoreFlags=job_comment
$([[ ${NODES[*]} != *switch=* ]] || echo TopologyPlugin=topology/tree)
PlugStackConfig=$B/etc/plugstack.conf
END
	if [ "$PLUGINS" = on ]; then
		cat <<END

# The auction
PluginDir=$(auction_plugin_path):$stock_plugins
JobSubmitPlugins=auction
SchedulerType=sched/$SCHEDULER
END
	else
		cat <<END
PluginDir=$stock_plugins
SchedulerType=sched/backfill
END
	fi
	# Nodes that are only declared as cloud nodes stay off: nobody starts them. Slurm hides them while they are off, also from
	# the auction, unless PrivateData says otherwise.
	if [ -n "$(power_nodes)" ]; then
		printf '%s\n' PrivateData=cloud SuspendProgram="$B/etc/suspend" ResumeProgram="$B/etc/resume" SuspendTime=10 SuspendTimeout=5 \
			ResumeTimeout=30 SuspendRate=0 ResumeRate=0
		[ -z "$(started_nodes)" ] || printf 'SuspendExcNodes=%s\n' "$(started_nodes | paste -sd,)"
	elif [[ "${NODES[*]}" == *start=cloud* ]]; then
		printf '%s\n' PrivateData=cloud SuspendProgram=/bin/true ResumeProgram=/bin/true SuspendTime=3600 ResumeTimeout=3600
	fi
	echo
	print_nodes "$address"
	print_partitions
}

# In front of Slurm's plugins: ours, and for heterogeneous jobs our scheduler under the name of Slurm's.
auction_plugin_path()
{
	# A build tree has both in one place.
	[ "$SCHEDULER" != backfill ] || [ ! -d "$PLUGIN_DIR/backfill" ] || printf '%s:' "$PLUGIN_DIR/backfill"
	printf '%s' "$PLUGIN_DIR"
}

# gres/gpu and one for each kind of GPU.
print_gpu_tres()
{
	local spec kind

	{
		echo gres/gpu
		for spec in "${NODES[@]}"; do
			node_parse "$spec"
			for kind in ${n_gpus//+/ }; do
				# As Slurm's accounting has it, whatever slurm.conf does.
				tr '[:upper:]' '[:lower:]' <<< "gres/gpu:${kind%%:*}"
			done
			[ -z "$n_shards" ] || echo gres/shard
		done
	} | sort -u | paste -sd,
}

# Ports of the slurmds start at 10 above the base; a node that is only declared needs one as well, but nobody listens on it.
print_nodes()
{
	local spec names port=$((PORT_BASE + 10)) gres range state cores

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		gres= state=
		[ -z "$n_gpus" ] || gres=" Gres=gpu:${n_gpus//+/,gpu:}${n_shards:+,shard:$n_shards}"
		[ -z "$n_features" ] || gres+=" Feature=${n_features//+/,}"
		cores=
		[ -z "$n_threads$n_sockets" ] ||
			cores=" Sockets=${n_sockets:-1} CoresPerSocket=$((n_cpus / ${n_threads:-1} / ${n_sockets:-1})) ThreadsPerCore=${n_threads:-1}"
		names=$(node_names "$n_list" | wc -l)
		if [ "$n_start" = power ]; then
			state=" State=CLOUD"
			range="$port-$((port + names - 1))"
			port=$((port + names))
		elif [ "$n_start" != yes ]; then
			state=" State=DOWN"
			[ "$n_start" = no ] || state=" State=CLOUD"
			range=$(yes $((PORT_BASE + 199)) | head -n "$names" | paste -sd,)
		else
			range="$port-$((port + names - 1))"
			port=$((port + names))
		fi
		[ "$names" = 1 ] && range=${range%-*} || range="[$range]"
		echo "NodeName=$n_list NodeHostname=$host NodeAddr=$1 Port=$range CPUs=$n_cpus$cores RealMemory=$n_mem${n_tmp:+ TmpDisk=$n_tmp}$gres$state"
	done
}

# main is the default partition for ordinary jobs, if there is one.
print_partitions()
{
	local spec p seen=' ' list is_default

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		for p in ${n_partition//+/ }; do
			case $seen in
			*" $p "*) continue ;;
			esac
			seen+="$p "
			list=$(partition_nodes "$p")
			is_default=
			[ "$p" != main ] || is_default=' Default=YES'
			echo "PartitionName=$p Nodes=$list$is_default MaxTime=INFINITE"
		done
	done
}

partition_nodes()
{
	local spec

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		[[ "+$n_partition+" != *"+$1+"* ]] || echo "$n_list"
	done | paste -sd,
}

print_gres_conf()
{
	local spec kind first

	for spec in "${NODES[@]}"; do
		node_parse "$spec"
		[ -n "$n_gpus" ] || continue
		first=0
		for kind in ${n_gpus//+/ }; do
			echo "NodeName=$n_list Name=gpu Type=${kind%%:*} File=$B/dev/nvidia[$first-$((first + ${kind##*:} - 1))]"
			first=$((first + ${kind##*:}))
		done
		[ -z "$n_shards" ] || echo "NodeName=$n_list Name=shard Count=$n_shards"
	done
}

# Leaf switches, and one above them.
print_topology_conf()
{
	local spec switches

	switches=$(
		for spec in "${NODES[@]}"; do
			node_parse "$spec"
			[ -z "$n_switch" ] || echo "$n_switch $n_list"
		done | sort | awk '{ n[$1] = n[$1] (n[$1] ? "," : "") $2 } END { for (s in n) print "SwitchName=" s " Nodes=" n[s] }'
	)
	[ -z "$switches" ] || printf '%s\nSwitchName=spine Switches=%s\n' "$switches" "$(sed 's/SwitchName=\([^ ]*\).*/\1/' <<< "$switches" | paste -sd,)"
}

# No cgroups: nothing here uses them, and a chroot or container has none to give. Releases before 24.05 cannot be told so, but their plugin for
# version 1 touches no file system until it is used.
print_cgroup_conf()
{
	case $(slurmctld -V) in
	*' 2'[0-3].*) echo CgroupPlugin=cgroup/v1 ;;
	*) echo CgroupPlugin=disabled ;;
	esac
}

# What Slurm runs, as its own user, to start and stop cloud nodes: asks the sandbox's helper, which is root (daemons.bash).
write_power_programs()
{
	local word

	[ -n "$(power_nodes)" ] || return 0
	[ -p "$B/run/power" ] || mkfifo -m 600 "$B/run/power" && chown slurm: "$B/run/power" || die "cannot make $B/run/power"
	for word in resume suspend; do
		printf '#!/bin/sh\necho "%s $1" > %s\n' $word "$B/run/power" > "$B/etc/$word"
		chmod 755 "$B/etc/$word"
	done
}

print_slurmdbd_conf()
{
	cat <<END
AuthType=auth/munge
AuthInfo=socket=$B/munge/socket
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((PORT_BASE + 1))
SlurmUser=slurm
PidFile=$B/run/slurmdbd.pid
LogFile=$B/log/slurmdbd.log
DebugLevel=info
PluginDir=$stock_plugins
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct
END
	[ -z "$(host_address)" ] || echo CommunicationParameters=NoInAddrAny
}

print_plugstack_conf()
{
	[ "$PLUGINS" != on ] || echo "required $PLUGIN_DIR/spank_auction.so"
}

# Short slots, so that a person can watch; times of the models fit contrib/train.
print_auction_conf()
{
	cat <<END
# Written by contrib/sandbox at every "up".
Policy=dps
SlotSeconds=$SLOT_SECONDS
Slots=$SLOTS
StartMargin=2
EndMargin=1
LienSeconds=10
# Tests and demonstrations bid in loops.
UserQuotes=1000
CancelFee=0
# And show what ends with its plan, and costs what was agreed.
Overrun=kill
RefundUnused=no
Prices=given
Eta=gpu:v100=20,gpu:t4=8,cpu=1.5,mem=1.001
SpoolDir=$B/state/auction
PublicStatus=$B/run/auction.json
PartitionName=edge Site=edge
PartitionName=cloud Site=cloud Upload=20s
WorkerType=v100 TRES=cpu=2,mem=500,gpu:v100=1 Bandwidth=1024
WorkerType=t4 TRES=cpu=2,mem=500,gpu:t4=1 Bandwidth=1024
PSType=ps.s TRES=cpu=1,mem=200 Bandwidth=2048
PSType=ps.m TRES=cpu=2,mem=400 Bandwidth=8192
Model=small Epochs=10 Chunks=2 Minibatches=15 GradientMB=0.1 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
Model=medium Epochs=10 Chunks=4 Minibatches=15 GradientMB=0.2 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
Model=large Epochs=10 Chunks=8 Minibatches=12 GradientMB=0.5 WorkerTime=v100=100ms,t4=200ms PSTime=ps.s=10ms,ps.m=5ms
END
}
