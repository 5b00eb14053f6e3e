# memory.jq - what the memory of slurmctld grows by. Included by audit.jq; by itself (see run --ordinary):
#   $memory     RSS of slurmctld, by process
#   $rows       runs of jobs in the accounting

# Each life of slurmctld from 40 s on, by when all of its code and tables are there: seconds, kB more, and new records of jobs.
def lives($memory; $rows): [$memory | group_by(.pid)[] | map(select(.kb)) | (.[0].at + 40) as $warm | map(select(.at >= $warm)) | select(length > 1)
	| {from: .[0].at, to: .[-1].at, kb: (.[-1].kb - .[0].kb)}
	| . as $l | .records = ([$rows[] | select(.submit >= $l.from and .submit <= $l.to)] | length)];
def growth($memory; $rows): lives($memory; $rows)
	| {n: length, seconds: (map(.to - .from) | add // 0 | round), kb: (map(.kb) | add // 0), records: (map(.records) | add // 0), most: ([$memory[].kb // 0] | max)}
	| .each = (if .records > 0 then .kb / .records * 10 | round / 10 else 0 end);
def growth_line: "memory of slurmctld after the first 40 s of its \(.n) lives: \(.kb) kB more in \(.seconds) s, with \(.records) new records: \(.each) kB each; at most \(.most) kB";
