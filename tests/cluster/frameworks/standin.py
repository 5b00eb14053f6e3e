#!/usr/bin/env python3
"""standin.py COMMAND [ARG...]: what the launchers and frameworks of the tests do with Slurm's environment, and where they give up.

Each command reads the variables that its framework reads, makes the checks that it makes, and then meets all its other processes at
the address that it found, as init_process_group() does: who is missing, or there twice, ends them all with an error.
"""
import argparse
import os
import pickle
import signal
import socket
import subprocess
import sys
import time

PATIENCE = 50


def fail(text):
    sys.exit(f"error: {text}")


def need(name):
    if not os.environ.get(name):
        fail(f"{name} is not set")
    return os.environ[name]


def hostnames(variable="SLURM_JOB_NODELIST"):
    return subprocess.check_output(["scontrol", "show", "hostnames", need(variable)], text=True).split()


def address(host):
    """The nodes of a private cluster are all on this machine, and their names mean nothing outside of Slurm."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"


def meet(host, port, rank, size):
    """The ranks 0 to SIZE - 1 meet at HOST:PORT, each once."""
    until = time.time() + PATIENCE
    if rank == 0:
        with socket.create_server(("127.0.0.1", port)) as server:
            server.settimeout(PATIENCE)
            seen, lines = {0}, []
            while len(seen) < size:
                try:
                    line = server.accept()[0]
                    line.settimeout(PATIENCE)
                    other, theirs = map(int, line.recv(64).split())
                except OSError:
                    fail(f"rendezvous: {len(seen)} of {size} ranks came: {sorted(seen)}")
                if other in seen or other >= size or theirs != size:
                    fail(f"rendezvous: rank {other} of {theirs} came to a world of {size} with {sorted(seen)}")
                seen.add(other)
                lines.append(line)
            for line in lines:
                line.sendall(b"go")
        return
    while True:
        try:
            with socket.create_connection((address(host), port), timeout=PATIENCE) as line:
                line.sendall(f"{rank} {size}".encode())
                if line.recv(2) == b"go":
                    return
        except OSError:
            pass
        if time.time() > until:
            fail(f"rendezvous: rank {rank} of {size} found nobody at {host}:{port}")
        time.sleep(0.2)


def set_device(local):
    """torch.cuda.set_device()"""
    visible = [g for g in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if g]
    if local >= len(visible):
        fail(f"CUDA error: invalid device ordinal: {local} of {visible}")


def done(rank, size, what):
    # Ranks share one file, as with srun's: a line is written at once.
    sys.stdout.write(f"{what}: rank {rank} of {size} ok on {os.environ.get('SLURMD_NODENAME')}\n")
    sys.stdout.flush()


def train(_args):
    """A DDP script under torchrun: init_process_group(init_method="env://")"""
    rank, size, local = int(need("RANK")), int(need("WORLD_SIZE")), int(need("LOCAL_RANK"))
    set_device(local)
    meet(need("MASTER_ADDR"), int(need("MASTER_PORT")), rank, size)
    done(rank, size, "ddp")


def torchrun(args):
    p = argparse.ArgumentParser()
    for name in ("--nnodes", "--nproc_per_node", "--node_rank"):
        p.add_argument(name, type=int, default=None)
    for name in ("--rdzv_id", "--rdzv_backend", "--rdzv_endpoint"):
        p.add_argument(name)
    p.add_argument("--standalone", action="store_true")
    o, rest = p.parse_known_args(args)
    nodes, each = o.nnodes or 1, o.nproc_per_node or 1
    if o.standalone:
        host, port, rank = "localhost", 23000 + os.getpid() % 1000 * 2, 0
    else:
        host, port = o.rdzv_endpoint.split(":")
        # The agent that runs where the endpoint is serves it; the others are ranked as they come.
        rank = o.node_rank
        if rank is None:
            rank = 0 if host == need("SLURMD_NODENAME") else int(need("SLURM_NODEID"))
        port = int(port)
        meet(host, port, rank, nodes)
    children = []
    for local in range(each):
        env = dict(os.environ, RANK=str(rank * each + local), WORLD_SIZE=str(nodes * each), LOCAL_RANK=str(local), LOCAL_WORLD_SIZE=str(each),
                   MASTER_ADDR=host, MASTER_PORT=str(port + 1))
        children.append(subprocess.Popen([sys.executable, __file__, rest[0]], env=env))
    sys.exit(max(abs(c.wait()) for c in children))


def fsdp(_args):
    """A process for each task of srun, which has one GPU or all of the node's."""
    rank, size, local = int(need("SLURM_PROCID")), int(need("SLURM_NTASKS")), int(need("SLURM_LOCALID"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    set_device(local if len(visible) > 1 else 0)
    meet(need("MASTER_ADDR"), int(need("MASTER_PORT")), rank, size)
    done(rank, size, "fsdp")


def megatron(args):
    p = argparse.ArgumentParser()
    p.add_argument("--tensor-model-parallel-size", type=int, default=1)
    p.add_argument("--pipeline-model-parallel-size", type=int, default=1)
    o = p.parse_args(args)
    rank, size = int(need("SLURM_PROCID")), int(need("SLURM_NTASKS"))
    shards = o.tensor_model_parallel_size * o.pipeline_model_parallel_size
    if size % shards:
        fail(f"world size ({size}) is not divisible by tensor x pipeline ({shards})")
    if size != int(need("SLURM_NNODES")) * int(need("SLURM_NTASKS_PER_NODE")):
        fail("SLURM_NTASKS is not nodes x tasks")
    set_device(int(need("SLURM_LOCALID")))
    meet(need("MASTER_ADDR"), int(need("MASTER_PORT")), rank, size)
    done(rank, size, "megatron")


def deepspeed(args):
    """The runner: one line "HOST slots=N" for each node, a rank for each slot."""
    p = argparse.ArgumentParser()
    p.add_argument("--hostfile")
    p.add_argument("--master_addr")
    p.add_argument("--master_port")
    p.add_argument("--launcher")
    o, rest = p.parse_known_args(args)
    with open(o.hostfile, encoding="ascii") as f:
        slots = dict(line.split(" slots=") for line in f.read().splitlines())
    if len(slots) != int(need("SLURM_NNODES")):
        fail(f"hostfile: {len(slots)} hosts, {os.environ['SLURM_NNODES']} nodes")
    size = sum(int(n) for n in slots.values())
    env = dict(os.environ, MASTER_ADDR=o.master_addr, MASTER_PORT=o.master_port)
    sys.exit(subprocess.call(["srun", "-n", str(size), f"--nodelist={','.join(slots)}", f"--ntasks-per-node={size // len(slots)}",
                              sys.executable, __file__, rest[0]], env=env))


def jax(_args):
    """jax.distributed.initialize() as its SlurmCluster does it."""
    port = int(need("SLURM_JOB_ID")) % 2**12 + (65535 - 2**12 + 1)
    rank, size = int(need("SLURM_PROCID")), int(need("SLURM_NTASKS"))
    set_device(int(need("SLURM_LOCALID")))
    meet(hostnames("SLURM_STEP_NODELIST")[0], port, rank, size)
    done(rank, size, "jax")


def lightning(args):
    """Trainer(num_nodes=N, devices=M) as its SLURMEnvironment checks it, and its requeue at --signal."""
    nodes, devices = int(args[0]), int(args[1])
    if int(need("SLURM_NTASKS")) > 1 and not os.environ.get("SLURM_NTASKS_PER_NODE"):
        fail("You set `--ntasks` in your SLURM bash script, but this variable is not supported. HINT: Use `--ntasks-per-node` instead.")
    if int(need("SLURM_NNODES")) != nodes:
        fail(f"You set `num_nodes={nodes}` in Lightning, but the number of nodes configured in SLURM is {os.environ['SLURM_NNODES']}")
    if int(need("SLURM_NTASKS_PER_NODE")) != devices:
        fail(f"You set `devices={devices}` in Lightning, but SLURM_NTASKS_PER_NODE is {os.environ['SLURM_NTASKS_PER_NODE']}")
    rank, size = int(need("SLURM_PROCID")), int(need("SLURM_NTASKS"))
    set_device(int(need("SLURM_LOCALID")))
    need("SLURM_NODEID")
    meet(hostnames()[0], int(need("SLURM_JOB_ID")[-4:]) + 15000, rank, size)
    done(rank, size, "lightning")


def told(_args):
    """Trains until it is told to end: all ranks say so, with the seconds that they have left."""
    def heard(number, _frame):
        sys.stdout.write(f"rank {os.environ['SLURM_PROCID']} told by {number} at {time.time():.0f}\n")
        sys.stdout.flush()
        sys.exit(0)

    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, heard)
    sys.stdout.write(f"rank {os.environ['SLURM_PROCID']} trains\n")
    sys.stdout.flush()
    while True:
        time.sleep(1)


def submitit(args):
    """python -m submitit.core._submit FOLDER: the pickled job of this job's id."""
    folder = args[0]
    env = {name: need(name) for name in ("SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_JOB_NUM_NODES", "SLURM_NODEID", "SLURM_PROCID",
                                         "SLURM_LOCALID", "SLURM_JOB_NODELIST")}
    if len(hostnames()) != int(env["SLURM_JOB_NUM_NODES"]):
        fail("SLURM_JOB_NODELIST has not as many hosts as SLURM_JOB_NUM_NODES says")
    if os.environ.get("SUBMITIT_EXECUTOR") != "slurm":
        fail("SUBMITIT_EXECUTOR is not slurm")
    with open(f"{folder}/submitted.pkl", "rb") as f:
        function, arguments = pickle.load(f)
    result = function(*arguments)
    with open(f"{folder}/{env['SLURM_JOB_ID']}_{env['SLURM_PROCID']}_result.pkl", "wb") as f:
        pickle.dump(("success", result), f)
    done(int(env["SLURM_PROCID"]), int(env["SLURM_NTASKS"]), "submitit")


def mpi(_args):
    """MPI_Init(), MPI_Barrier() and MPI_Finalize() of a program that srun --mpi=pmi2 started, over its PMI."""
    fd = int(need("PMI_FD"))
    for ask, expected in (("cmd=init pmi_version=1 pmi_subversion=1", "rc=0"), ("cmd=barrier_in", "cmd=barrier_out"),
                          ("cmd=finalize", "cmd=finalize_ack")):
        os.write(fd, f"{ask}\n".encode())
        answer = os.read(fd, 4096).decode()
        if expected not in answer:
            fail(f"PMI: {ask}: {answer}")
    if (need("PMI_RANK"), need("PMI_SIZE")) != (need("SLURM_PROCID"), need("SLURM_NTASKS")):
        fail("PMI and Slurm have different worlds")
    done(int(need("PMI_RANK")), int(need("PMI_SIZE")), "mpi")


def submitit_pickle(args):
    with open(args[0], "wb") as f:
        pickle.dump((pow, (2, 10)), f)


def ray(args):
    """ray start --head, ray start --address, and a driver that waits for all nodes."""
    p = argparse.ArgumentParser()
    p.add_argument("what")
    p.add_argument("--head", action="store_true")
    p.add_argument("--block", action="store_true")
    p.add_argument("--port", type=int)
    p.add_argument("--address")
    p.add_argument("--num-gpus", type=int, default=0)
    p.add_argument("--nodes", type=int, default=0)
    o = p.parse_args(args)
    if o.what == "start":
        set_device(o.num_gpus - 1)
    if o.head:
        with socket.create_server(("127.0.0.1", o.port)) as server:
            nodes, drivers = [need("SLURMD_NODENAME")], []
            while True:
                line = server.accept()[0]
                word = line.recv(64).decode()
                if word.startswith("node "):
                    nodes.append(word[5:])
                else:
                    drivers.append(line)
                for driver in drivers:
                    driver.sendall((" ".join(sorted(set(nodes))) + "\n").encode())
    host, port = o.address.split(":")
    until = time.time() + PATIENCE
    while True:
        try:
            line = socket.create_connection((address(host), int(port)), timeout=PATIENCE)
            break
        except OSError:
            if time.time() > until:
                fail(f"ray: no head at {o.address}")
            time.sleep(0.2)
    if o.what == "start":
        line.sendall(f"node {need('SLURMD_NODENAME')}".encode())
        while True:
            time.sleep(1)
    line.sendall(b"driver")
    names = []
    while len(names) < o.nodes:
        text = line.recv(4096).decode()
        if not text:
            fail(f"ray: {len(names)} of {o.nodes} nodes: {names}")
        names = text.splitlines()[-1].split()
    print(f"ray: {len(names)} nodes ok")


if __name__ == "__main__":
    command = sys.argv[1]
    if command not in ("train", "torchrun", "fsdp", "megatron", "deepspeed", "jax", "lightning", "told", "mpi", "submitit", "submitit_pickle", "ray"):
        fail(f"{command}: no such framework")
    globals()[command](sys.argv[2:])
