#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Baseline lab: measure voice/music peers between two JACK servers on one machine.

Each side has its own headless JACK server (dummy device) and its own network
namespace; jprobe is the mouth and the ear on each; wire (optional) is the network.
See README.md for the exact commands.
"""
import argparse, fnmatch, json, os, signal, subprocess, sys, tempfile, time
from pathlib import Path

import numpy as np
import scipy.signal

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests" / "Quality"))
import speech  # noqa: E402

BIN = os.environ.get("LAB_BIN", os.path.join(tempfile.gettempdir(), "lab"))
SCR = os.environ.get("LAB_SCRATCH", os.path.join(tempfile.gettempdir(), "lab"))
FS = 48000
SINE = 1043.0
SERVERS = {"A": os.environ.get("LAB_PREFIX", "lab") + "A", "B": os.environ.get("LAB_PREFIX", "lab") + "B"}
NS = SERVERS
DIRECT = {"A": "10.77.0.1", "B": "10.77.0.2"}
WIRE = {"A": "10.78.0.1", "B": "10.78.0.2"}
CONDS = {
    "clean": None,                        # direct veth
    "wire0": [],                          # the wire, no impairment
    "l1j5": ["-l", "1", "-j", "5"],       # 1 % loss, U[0,5] ms, order kept
    "l5j20": ["-l", "5", "-j", "20"],     # 5 % loss, U[0,20] ms, order kept
    "l1j5r": ["-l", "1", "-j", "5", "-r"],    # the same, reordering allowed
    "l5j20r": ["-l", "5", "-j", "20", "-r"],
    "stall5": ["-l", "1", "-j", "5", "-m", "stall", "-R", "10"],
    "stall20": ["-l", "5", "-j", "20", "-m", "stall", "-R", "10"],
}


# ---------------------------------------------------------------- processes
class Procs:
    """Only what this run started; ended by pid, never by name."""

    def __init__(self):
        self.all = []

    def start(self, tag, cmd, side=None, netns=False, env=None, rt=None, **kw):
        e = dict(os.environ, JACK_NO_AUDIO_RESERVATION="1", QT_QPA_PLATFORM="offscreen", HOME=f"{SCR}/home{side or ''}")
        os.makedirs(e["HOME"], exist_ok=True)
        if side:
            e["JACK_DEFAULT_SERVER"] = SERVERS[side]
        e.update(env or {})
        if netns:
            cmd = ["nsenter", f"--net=/var/run/netns/{NS[side]}"] + cmd
        log = open(f"{SCR}/{tag}.log", "w")
        kw.setdefault("stdin", subprocess.DEVNULL)
        p = subprocess.Popen(cmd, stdout=kw.pop("stdout", log), stderr=log, env=e, start_new_session=True, **kw)
        p.tag = tag
        self.all.append(p)
        return p

    def stop(self, p):
        for sig, wait in ((signal.SIGTERM, 2), (signal.SIGKILL, 2)):
            if p.poll() is None:
                p.send_signal(sig)
                try:
                    p.wait(wait)
                except subprocess.TimeoutExpired:
                    pass
        if p in self.all:
            self.all.remove(p)

    def stop_all(self):
        for p in reversed(list(self.all)):
            self.stop(p)


def sh(cmd, check=False, env=None):
    r = subprocess.run(cmd, shell=isinstance(cmd, str), capture_output=True, text=True, env=env)
    if check and r.returncode:
        raise RuntimeError(f"{cmd}: {r.stderr}")
    return r.stdout


def jenv(side):
    return dict(os.environ, JACK_DEFAULT_SERVER=SERVERS[side])


def ports(side):
    return sh(["jack_lsp"], env=jenv(side)).split("\n")


def connect(side, src, dst, timeout=5):
    """Connect and see that it is so: a client that has its ports but is not yet active
    refuses, with the same words as one already connected."""
    t = time.time()
    while time.time() - t < timeout:
        subprocess.run(["jack_connect", src, dst], capture_output=True, env=jenv(side))
        own = None
        for l in sh(["jack_lsp", "-c"], env=jenv(side)).split("\n"):
            if not l.startswith(" "):
                own = l
            elif own == src and l.strip() == dst:
                return
        time.sleep(0.1)
    raise RuntimeError(f"side {side}: cannot connect {src} -> {dst}")


def wait_ports(side, names, timeout=12):
    """The ports that match the given names or patterns, once all are there."""
    t = time.time()
    while time.time() - t < timeout:
        have = ports(side)
        got = [next((h for h in have if fnmatch.fnmatchcase(h, n)), None) for n in names]
        if all(got):
            return got
        time.sleep(0.1)
    raise RuntimeError(f"side {side}: no ports {names}; there are {[p for p in ports(side) if p]}")


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        x = f.read().rsplit(")", 1)[1].split()
    return (int(x[11]) + int(x[12])) / os.sysconf("SC_CLK_TCK")


def mem_kb(pid, key="VmHWM"):
    with open(f"/proc/{pid}/status") as f:
        for l in f:
            if l.startswith(key + ":"):
                return int(l.split()[1])
    return 0


def rt_threads(pid):
    """The real-time threads of a process: name:priority."""
    out = []
    for t in os.listdir(f"/proc/{pid}/task"):
        try:
            name = open(f"/proc/{pid}/task/{t}/comm").read().strip()
            x = open(f"/proc/{pid}/task/{t}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(x[38]) in (1, 2):
            out.append(f"{name}:{x[37]}")
    return out + [f"of {len(os.listdir(f'/proc/{pid}/task'))}"]


def sent_bytes(side, dev):
    """What a side has put on its way to the other, IP's headers included."""
    return json.loads(sh(f"ip -s -j -n {NS[side]} link show {dev}"))[0]["stats64"]["tx"]["bytes"]


def busy_s():
    x = [int(v) for v in open("/proc/stat").readline().split()[1:]]
    return (sum(x[:3]) + x[5] + x[6]) / os.sysconf("SC_CLK_TCK"), x[7] / os.sysconf("SC_CLK_TCK")


# ---------------------------------------------------------------- network
def net_up():
    for s in "AB":
        if NS[s] not in sh("ip netns list"):
            sh(f"ip netns add {NS[s]}", check=True)
            sh(f"ip -n {NS[s]} link set lo up")
    if "direct" not in sh(f"ip -n {NS['A']} link"):
        sh(f"ip link add direct netns {NS['A']} type veth peer name direct netns {NS['B']}", check=True)
        for s in "AB":
            sh(f"ip -n {NS[s]} addr add {DIRECT[s]}/24 dev direct", check=True)
            sh(f"ip -n {NS[s]} link set direct up", check=True)


def net_down():
    for s in "AB":
        sh(f"ip netns del {NS[s]}")


def wire_up(P, opts, secs, seed):
    w = P.start("wire", [f"{BIN}/wire", NS["A"], NS["B"], "-t", str(secs), "-s", str(seed)] + opts,
                stdout=subprocess.PIPE, text=True)
    assert w.stdout.readline().startswith("READY"), open(f"{SCR}/wire.log").read()
    for s in "AB":
        sh(f"ip -n {NS[s]} addr add {WIRE[s]}/24 dev wire0", check=True)
        sh(f"ip -n {NS[s]} link set wire0 up", check=True)
    return w


# ---------------------------------------------------------------- stimulus
CH_N = int(0.020 * FS)


def chirp():
    t = np.arange(CH_N) / FS
    f0, f1, T = 400.0, 9000.0, CH_N / FS
    return (0.5 * np.sin(2 * np.pi * (f0 * t + (f1 - f0) * t * t / (2 * T))) * np.hanning(CH_N)).astype(np.float32)


def stimulus(path, secs, kind, seed):
    """Two channels: 1 the chirp bursts, 2 the steady sine (kind 'both'), noise or speech; or a single
    kind on both channels ('chirp', 'sine')."""
    n = int(secs * FS)
    rng = np.random.default_rng(seed)
    c = np.zeros(n, np.float32)
    at, pos = [], int(0.3 * FS)
    while pos + CH_N + int(0.6 * FS) < n:
        c[pos:pos + CH_N] += chirp()
        at.append(pos)
        pos += int((0.35 + 0.2 * rng.random()) * FS)
    s = (0.25 * np.sin(2 * np.pi * SINE * np.arange(n) / FS)).astype(np.float32)
    if kind == "speech":
        s = said(n)[0]
    x = np.stack({"both": (c, s), "speech": (c, s), "chirp": (c, c), "sine": (s, s),
                  "noise": (c, lowpassed_noise(rng, n))}[kind], 1)
    x.astype(np.float32).tofile(path)
    return at


def said(n):
    """Speech on the second channel, n samples of it, and where each clip lies, in seconds."""
    x, spans = speech.joined(FS, n / FS)
    return np.pad(x, (0, max(0, n - len(x))))[:n], spans


# ---------------------------------------------------------------- analysis
class Clock:
    """Sample index of one probe <-> the machine's monotonic clock, us. The dummy
    device keeps an absolute schedule, so a running median removes wake-up noise."""

    def __init__(self, log):
        l = np.fromfile(log).reshape(-1, 4)
        self.idx, self.off = l[:, 0], l[:, 1] - l[:, 0] * 1e6 / FS
        self.raw = l[:, 2]
        self.skips = int(np.sum(np.diff(l[:, 3]) != np.diff(l[:, 0])))
        k = max(1, len(l) // 60)
        self.ci = np.array([np.median(self.idx[i:i + k]) for i in range(0, len(l), k)])
        self.co = np.array([np.median(self.off[i:i + k]) for i in range(0, len(l), k)])

    def called_us(self, i):
        """When the cycle of a sample was really run: xruns are told on this clock, and jackd's dummy may give the start
        of its cycles a quarter of a second early."""
        return np.interp(i, self.idx, self.raw)

    def us(self, i):
        return i * 1e6 / FS + np.interp(i, self.ci, self.co)


def latencies(tx_at, txc, rx, rxc):
    """One-way delays in ms: a probe's place at the sender's capture port to its place
    at the receiver's playback port, on the one clock. Lost probes are counted."""
    tpl = chirp().astype(float)
    tpl /= np.sqrt(np.sum(tpl ** 2))
    out, lost = [], 0
    span = int(0.33 * FS)                                        # probes are >= 0.35 s apart
    for i in tx_at:
        t = txc.us(i)
        j0 = int(np.interp(t, rxc.us(rxc.ci), rxc.ci)) - 256     # where zero delay would be
        seg = rx[max(j0, 0):max(j0, 0) + span].astype(float)
        if len(seg) < CH_N * 2:
            continue
        n = 1 << int(np.ceil(np.log2(len(seg) + CH_N)))
        cc = np.fft.irfft(np.fft.rfft(seg, n) * np.conj(np.fft.rfft(tpl, n)), n)[:len(seg) - CH_N + 1]
        e = np.sqrt(np.maximum(np.convolve(seg ** 2, np.ones(CH_N), "valid"), 1e-12))
        strong = e > 0.2 * e.max()
        ncc = np.where(strong, np.abs(cc) / e, 0)
        k = int(np.argmax(ncc))
        if ncc[k] < 0.5 or e[k] < 1e-3:
            lost += 1
            continue
        y = np.abs(cc)
        fr = 0.0
        if 0 < k < len(cc) - 1:
            d = y[k - 1] - 2 * y[k] + y[k + 1]
            fr = 0.5 * (y[k - 1] - y[k + 1]) / d if d else 0.0
        out.append((rxc.us(max(j0, 0) + k + fr) - t) / 1e3)
    return np.array(out), lost


def glitches(x):
    """Faults in a steady sine: amplitude off by > 10 % or phase moved > 0.15 rad within
    2.5 ms (2-cycle window), or a sample-level discontinuity. Faults closer than 10 ms
    are one event. Returns events, bad fraction, the level, and the sample each event begins at."""
    x = x.astype(float)
    n = np.arange(len(x))
    w = 2 * np.pi * SINE / FS
    L = int(round(2 * FS / SINE))
    win = np.hanning(L + 2)[1:-1]
    win /= win.sum()
    z = np.convolve(x * np.exp(-1j * w * n), win, "same") * 2
    amp = np.abs(z)
    A = np.median(amp)
    if A < 1e-3:
        return None, 1.0, A, []
    lag = 120
    dph = np.angle(z[lag:] * np.conj(z[:-lag]))
    bad = np.abs(amp / A - 1) > 0.10
    bad[lag:] |= np.abs(dph) > 0.15
    r = np.zeros_like(x)
    r[2:] = np.abs(x[2:] - 2 * np.cos(w) * x[1:-1] + x[:-2])
    bad |= r > max(0.10 * A, 10 * np.median(r))
    bad[:2 * lag] = bad[-2 * lag:] = False                       # the filter's own ends
    idx = np.flatnonzero(bad)
    if not len(idx):
        return 0, 0.0, A, []
    first = idx[np.concatenate([[True], np.diff(idx) > int(0.010 * FS)])]
    return len(first), len(idx) / len(x), A, first


def lowpassed_noise(rng, n):
    """White noise below 8 kHz, so that a peer that resamples can be compared at fractions of a sample."""
    f = np.fft.rfft(rng.standard_normal(n))
    f[int(len(f) * 8000 / (FS / 2)):] = 0
    x = np.fft.irfft(f, n)
    return (0.1 * x / x.std()).astype(np.float32)


def noise_bad(tx, rx):
    """Blocks of 2 ms that are no true copy of the sent noise at any delay in use near by, to an
    eighth of a sample: error above a tenth of the energy. No concealment can guess noise, so
    every loss that was not repaired is seen. Events (gaps under 10 ms are one), share."""
    tx, rx = tx.astype(float), rx.astype(float)
    U, B, W, S, H = 8, 96, 1024, 16384, 2400
    spec = np.fft.rfft(tx)
    up = np.fft.irfft(np.concatenate([spec, np.zeros(len(tx) * U // 2 + 1 - len(spec))]), len(tx) * U) * U
    seen = []
    for i in range(S, len(rx) - W - S, H):
        a, b = tx[i - S:i + W], rx[i:i + W]
        n = 1 << int(np.ceil(np.log2(len(a) + W)))
        cc = np.fft.irfft(np.fft.rfft(a, n) * np.conj(np.fft.rfft(b, n)), n)[:S + 1]
        k = int(np.argmax(cc))
        seen.append(S - k if cc[k] > 0.4 * np.sqrt(np.sum(a[k:k + W] ** 2) * np.sum(b ** 2) + 1e-9) else None)
    bad = []
    for i in range(24000, len(rx) - W - S - H, B):
        j = (i - S) // H
        block = rx[i:i + B]
        level = np.sum(tx[i:i + B] ** 2) + 1e-9
        best = 1.0
        for d in {d for d in seen[max(0, j - 6):j + 7] if d is not None}:
            for frac in range(-U, U + 1):
                at = (i - d) * U + frac
                ref = up[at:at + B * U:U]
                g = np.dot(ref, block) / (np.dot(ref, ref) + 1e-9)      # a peer's gain is no fault
                best = min(best, np.sum((block - g * ref) ** 2) / level if 0.25 < g < 4 else 1.0)
        bad.append(best > 0.1)
    bad = np.array(bad)
    idx = np.flatnonzero(bad)
    ev = (1 + int(np.sum(np.diff(idx) > 5))) if len(idx) else 0
    return ev, len(idx) / len(bad), len(bad) * B / FS, [d for d in seen if d is not None]


def speech_scores(tx, rx, n):
    """PESQ-WB and eSTOI of each clip, aligned by itself, as a peer may change its delay between two."""
    each = []
    for start, end in said(n)[1]:
        i, j = int((start - speech.GAP / 2) * FS), int((end + speech.GAP / 2) * FS)
        piece, near = tx[i:j].astype(float), rx[i - FS // 10:j + FS // 2].astype(float)
        cc = scipy.signal.correlate(near, piece, "valid", "fft")
        k = int(np.argmax(cc))
        each.append(speech.scores(piece, near[k:k + len(piece)], FS))
    return each


# ---------------------------------------------------------------- peers
def ini_jamulus(path, auto, jb, ch, small, quality=2):
    with open(path, "w") as f:
        f.write(f"""<client>
 <newclientlevel>100</newclientlevel><audiochannels>{ch}</audiochannels><audioquality>{quality}</audioquality>
 <autojitbuf>{int(auto)}</autojitbuf><jitbuf>{jb}</jitbuf><jitbufserver>{jb}</jitbufserver>
 <enableopussmall>{int(small)}</enableopussmall></client>
""")


def peer_jacktrip(P, o, ip, period):
    """q: queue packets or auto; b: bit depth; s: buffer strategy; r: redundancy; udprt"""
    base = [os.environ.get("LAB_JACKTRIP", "jacktrip"), "-n", o.get("n", "2"), "-q", o.get("q", "4"), "-b", o.get("b", "16"), "-D"]
    if "s" in o:
        base += ["--bufstrategy", o["s"]]
    if "r" in o:
        base += ["-r", o["r"]]
    if "z" in o:
        base += ["-z"]
    if "udprt" in o:
        base += ["--udprt"]
    a = P.start("jacktripA", base + ["-s", "-J", "jtA"], "A", True)
    time.sleep(0.7)
    b = P.start("jacktripB", base + ["-c", ip["A"], "-J", "jtB"], "B", True)
    return {"procs": {"jacktrip": [a, b]}, "both": True,
            "warm": float(o.get("warm", 10 if "auto" in o.get("q", "") else 4)),       # its automatic mode gathers figures for 6 s first
            "in": {"A": ["jtA:send_1", "jtA:send_2"], "B": ["jtB:send_1", "jtB:send_2"]},
            "out": {"A": ["jtA:receive_1", "jtA:receive_2"], "B": ["jtB:receive_1", "jtB:receive_2"]}}


def peer_zita(P, o, ip, period):
    """buff: extra ms; fmt: 16bit|24bit|float; filt: resampler delay"""
    b = P.start("zitaB", ["zita-n2j", "--jname", "zr", "--jserv", SERVERS["B"], "--chan", "1,2",
                          "--buff", o.get("buff", "10"), "--filt", o.get("filt", "16"), "--info", ip["B"], "40000"], "B", True)
    time.sleep(0.3)
    a = P.start("zitaA", ["zita-j2n", "--jname", "zs", "--jserv", SERVERS["A"], "--chan", "2", "--" + o.get("fmt", "24bit"),
                          ip["B"], "40000"], "A", True)
    return {"procs": {"zita-j2n": [a], "zita-n2j": [b]}, "both": False, "warm": float(o.get("warm", "15")),
            "in": {"A": ["zs:in_1", "zs:in_2"]}, "out": {"B": ["zr:out_1", "zr:out_2"]}}


def peer_jamulus(P, o, ip, period):
    """jb: auto or a number of blocks; F: server 64-sample mode; small; ch 2 stereo"""
    auto = o.get("jb", "auto") == "auto"
    jb = 4 if auto else int(o["jb"])
    jam = os.environ.get("LAB_JAMULUS", "Jamulus")
    srv = [jam, "-s", "-n", "-t", "-p", "22124"] + (["-F"] if o.get("F", "1") == "1" else [])
    if "T" in o:
        srv.append("-T")
    s = P.start("jamulusS", srv, "A", True)
    time.sleep(0.7)
    cl = []
    for side in "AB":
        ini = f"{SCR}/jam{side}.ini"
        ini_jamulus(ini, auto, jb, int(o.get("ch", "2")), o.get("small", "1") == "1", int(o.get("aq", "2")))
        host = "127.0.0.1" if side == "A" else ip["A"]
        cl.append(P.start("jamulus" + side, [jam, "-n", "-t", "-j", "-i", ini, "-c", host + ":22124",
                                              "--clientname", side], side, True))
        time.sleep(0.3)
    if o.get("aq") == "3":
        time.sleep(3)                                            # the client restarts its sound once the server offers raw
    return {"procs": {"Jamulus server": [s], "Jamulus client": cl}, "both": False, "warm": float(o.get("warm", "15")),
            "in": {"A": ["Jamulus A:input left", "Jamulus A:input right"]},
            "out": {"B": ["Jamulus B:output left", "Jamulus B:output right"]}}


def peer_trx(P, o, ip, period):
    """f: opus frame samples; j: jitter ms; m: ALSA buffer ms; through ALSA's jack plugin"""
    rc = f"{SCR}/trx.asoundrc"
    with open(rc, "w") as f:
        f.write(f"""pcm.labcap {{ type jack name trxA capture_ports {{ 0 probeA:out_1 1 probeA:out_2 }} playback_ports {{ }} }}
pcm.labplay {{ type jack name trxB playback_ports {{ 0 probeB:in_1 1 probeB:in_2 }} capture_ports {{ }} }}
pcm.labcapp {{ type plug slave.pcm labcap }}
pcm.labplayp {{ type plug slave.pcm labplay }}
""")
    env = {"ALSA_CONFIG_PATH": "/usr/share/alsa/alsa.conf:" + rc}
    b = P.start("trxB", ["trx-rx", "-d", "labplayp", "-h", ip["B"], "-j", o.get("j", "16"), "-m", o.get("m", "16")], "B", True, env=env)
    a = P.start("trxA", ["trx-tx", "-d", "labcapp", "-h", ip["B"], "-f", o.get("f", "120"), "-m", o.get("m", "16"),
                         "-b", o.get("b", "128")], "A", True, env=env)
    return {"procs": {"trx-tx": [a], "trx-rx": [b]}, "both": False, "warm": 5, "in": {}, "out": {}}


def peer_baresip(P, o, ip, period):
    """jb: fixed min-max frames or adaptive; ptime ms; jb type"""
    procs = []
    for side in "BA":
        d = f"{SCR}/baresip{side}"
        os.makedirs(d, exist_ok=True)
        lo, hi = o.get("jb", "1-10").split("-")
        with open(d + "/config", "w") as f:
            f.write(f"""poll_method epoll
net_interface {'direct' if ip is DIRECT else 'wire0'}
sip_listen {ip[side]}:5060
module_path /usr/lib/baresip/modules
module jack.so
module opus.so
{'module plc.so' if 'plc' in o else ''}
module_tmp account.so
module_app menu.so
audio_player jack
audio_source jack
audio_alert none
audio_txmode {o.get('txmode', 'poll')}
audio_buffer {o.get('ab', '20-160')}
ausrc_format float
auplay_format float
auenc_format s16
audec_format s16
audio_path /nonexistent
ausrc_srate 48000
auplay_srate 48000
ausrc_channels 2
auplay_channels 2
call_max_calls 2
jitter_buffer_type {o.get('jt', 'fixed')}
jitter_buffer_delay {lo}-{hi}
rtp_timeout 60
opus_stereo yes
opus_sprop_stereo yes
opus_bitrate {o.get('br', '128000')}
opus_application {o.get('app', 'audio')}
opus_cbr no
opus_inbandfec {o.get('fec', 'no')}
opus_packet_loss {o.get('pl', '0')}
""")
        with open(d + "/accounts", "w") as f:
            f.write(f"<sip:{side.lower()}@{ip[side]}>;regint=0;answermode=auto;ptime={o.get('ptime', '20')};audio_codecs=opus/48000/2\n")
        open(d + "/contacts", "w").close()
        cmd = ["baresip", "-4", "-f", d]
        if side == "A":
            cmd += ["-e", f"/dial sip:b@{ip['B']}:5060"]
        procs.append(P.start("baresip" + side, cmd, side, True, stdin=subprocess.PIPE))
        time.sleep(1.0)
    return {"procs": {"baresip": procs}, "both": True, "warm": 6,
            "in": {s: ["baresip*:input_1", "baresip*:input_2"] for s in "AB"},
            "out": {s: ["baresip*:output_1", "baresip*:output_2"] for s in "AB"}}


def peer_earshot(P, o, ip, period):
    """codec: pcm|opus|opus-custom|aac; frame: Opus milliseconds; channels; bitrate; dial; warm; apart: a client each way"""
    prog = os.environ.get("LAB_EARSHOT", "earshot")
    base = ["--device", "jack", "--no-connect", "--codec", o.get("codec", "pcm"), "--channels", o.get("channels", "2"), "--json"]
    for k in ("frame", "bitrate", "dial"):
        if k in o:
            base += ["--" + k, o[k]]
    mouth = "-in" if "apart" in o else ""
    base += ["--separate-input"] if mouth else []
    out = {s: open(f"{SCR}/earshot{s}.json", "w") for s in "AB"}
    a = P.start("earshotA", [prog, "host", "--accept", "all", "--no-announce", "--ephemeral", "--client-name", "eA"] + base, "A", True, stdout=out["A"])
    time.sleep(0.7)
    b = P.start("earshotB", [prog, "join", ip["A"], "--ephemeral", "--client-name", "eB"] + base, "B", True, stdout=out["B"])
    n = range(1, int(o.get("ports", "2")) + 1)
    return {"procs": {"earshot": [a, b]}, "both": True, "warm": float(o.get("warm", 6)),
            "in": {"A": [f"eA{mouth}:input_{i}" for i in n], "B": [f"eB{mouth}:input_{i}" for i in n]},
            "out": {"A": [f"eA:output_{i}" for i in n], "B": [f"eB:output_{i}" for i in n]}}


def peer_direct(P, o, ip, period):
    """self-check: A's mouth straight to A's ear"""
    return {"procs": {}, "both": False, "warm": 1, "in": {"A": ["probeA:in_1", "probeA:in_2"]}, "out": {}, "self": True}


PEERS = {k[5:]: v for k, v in list(globals().items()) if k.startswith("peer_")}


# ---------------------------------------------------------------- one run
def run(peer, opts, period, cond, secs=20.0, seed=1, kind="both", sync=False, keep=False):
    P = Procs()
    res = {"peer": peer, "opts": opts, "period": period, "cond": cond, "secs": secs, "seed": seed, "kind": kind,
           "slow": int(os.environ.get("SLOW", 1)), "time": time.strftime("%H:%M:%S")}
    try:
        net_up()
        o = dict(x.split("=", 1) if "=" in x else (x, "1") for x in opts.split(",") if x)
        jd = {}
        for i, s in enumerate("AB"):
            jd[s] = P.start("jackd" + s, ["jackd", "-n", SERVERS[s], "-R", "-P70"] + (["-S"] if sync else []) +
                            ["-d", "dummy", "-r", str(FS), "-p", str(period)], s)
            time.sleep(0.35)
        for s in "AB":
            t = time.time()
            while "system:capture_1" not in ports(s):
                if time.time() - t > 6:
                    raise RuntimeError("jackd did not start: " + open(f"{SCR}/jackd{s}.log").read()[-300:])
                time.sleep(0.1)
        at = {}
        pr = {}
        for i, s in enumerate("AB"):
            at[s] = stimulus(f"{SCR}/play{s}.raw", secs, kind, seed * 10 + i)
            pr[s] = P.start("probe" + s, [f"{BIN}/jprobe", SERVERS[s], "probe" + s, "2", f"{SCR}/play{s}.raw", "2",
                                          f"{SCR}/rec{s}.raw", f"{SCR}/log{s}.raw", str(secs)], s,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert pr[s].stdout.readline().startswith("READY"), open(f"{SCR}/probe{s}.log").read()
        # Whoever looks for the best way, as ours does, would go round the wire.
        for s in "AB":
            sh(f"ip -n {NS[s]} link set direct {'up' if CONDS[cond] is None else 'down'}", check=True)
        ip = DIRECT
        w = None
        if CONDS[cond] is not None:
            ip = WIRE
            w = wire_up(P, CONDS[cond], secs + 90, seed)
        d = PEERS[peer](P, o, ip, period)
        for side, ps in d["in"].items():
            for k, p in enumerate(wait_ports(side, ps)):
                connect(side, f"probe{side}:out_{k + 1}", p)
        for side, ps in d["out"].items():
            for k, p in enumerate(wait_ports(side, ps)):
                connect(side, p, f"probe{side}:in_{k + 1}")
        time.sleep(d["warm"])
        procs = dict(d["procs"], **{"jackd": [jd["A"], jd["B"]]}, **({"wire": [w]} if w else {}))
        for ps in procs.values():
            for p in ps:
                if p.poll() is not None:
                    raise RuntimeError(f"{p.tag} ended: " + open(f"{SCR}/{p.tag}.log").read()[-400:])
        c0 = {k: [cpu_s(p.pid) for p in v] for k, v in procs.items()}
        b0, s0 = busy_s()
        dev = "wire0" if w else "direct"
        n0 = {s: sent_bytes(s, dev) for s in "AB"}
        t0 = time.monotonic()
        for s in "AB":
            pr[s].stdin.write("go\n")
            pr[s].stdin.flush()
        # a one-way peer: B's mouth stays silent because nothing connects it
        time.sleep(max(0.0, secs - 0.7))
        c1 = {k: [cpu_s(p.pid) if p.poll() is None else float("nan") for p in v] for k, v in procs.items()}
        b1, s1 = busy_s()
        t1 = time.monotonic()
        res["kbps"] = {s: round((sent_bytes(s, dev) - n0[s]) * 8 / 1e3 / (t1 - t0), 1) for s in "AB"}
        res["cpu"] = {k: [round(100 * (y - x) / (t1 - t0), 2) for x, y in zip(c0[k], c1[k])] for k in procs}
        res["rss_mb"] = {k: [round(mem_kb(p.pid) / 1024, 1) for p in v if p.poll() is None] for k, v in procs.items()}
        res["rss_anon_mb"] = {k: [round(mem_kb(p.pid, "RssAnon") / 1024, 1) for p in v if p.poll() is None] for k, v in procs.items()}
        res["rt"] = {k: [rt_threads(p.pid) for p in v if p.poll() is None] for k, v in procs.items()}
        ours = sum(sum(v) for v in res["cpu"].values())
        true = (t1 - t0) * res["slow"]
        res["other_cpu"] = round(100 * (b1 - b0) / true - ours / res["slow"], 1)
        res["steal"] = round(100 * (s1 - s0) / true, 1)
        res["load"] = os.getloadavg()[0]
        xr, xrun_us = {}, []
        for s in "AB":
            l = pr[s].stdout.readline()
            pr[s].wait(10)
            xr[s] = l.strip().rsplit("xruns=", 1)[-1]
            xrun_us += [float(v) for v in l.split("at=", 1)[-1].split(" ")[0].split(",") if v]
        res["xruns"] = xr
        res["xrun_ms"] = [round((x - t0 * 1e6) / 1e3, 1) for x in sorted(xrun_us)]
        for p in (q for v in d["procs"].values() for q in v):
            P.stop(p)
        if w:
            w.send_signal(signal.SIGTERM)
            res["wire"] = json.loads(w.stdout.readline())
        ck = {s: Clock(f"{SCR}/log{s}.raw") for s in "AB"}
        res["phase_ms"] = round(float((ck["B"].us(0) - ck["A"].us(0)) / 1e3 % (period / FS * 1e3)), 2)
        rx = {s: np.fromfile(f"{SCR}/rec{s}.raw", np.float32).reshape(-1, 2) for s in "AB"}
        res["skips"] = {s: ck[s].skips for s in "AB"}
        lat, lost, ev, badf, lev, mins = [], 0, 0, [], [], 0.0
        dirs = [("A", "A")] if d.get("self") else [("A", "B")] + ([("B", "A")] if d["both"] else [])
        res["dirs"] = {}
        for a, b in dirs:
            dd = {}
            if kind != "sine":
                l, n = latencies(at[a], ck[a], rx[b][:, 0], ck[b])
                lat += list(l)
                lost += n
                dd["lat_med"] = round(float(np.median(l)), 3) if len(l) else None
            if kind == "noise":
                tx = np.fromfile(f"{SCR}/play{a}.raw", np.float32).reshape(-1, 2)
                e, bf, sec, dl = noise_bad(tx[:, 1], rx[b][:, 1])
                dd["true_bad"] = dict(per_min=round(e * 60 / sec, 1), pct=round(100 * bf, 2), delays=[min(dl), max(dl)] if dl else [])
            elif kind == "speech":
                tx = np.fromfile(f"{SCR}/play{a}.raw", np.float32).reshape(-1, 2)
                each = speech_scores(tx[:, 1], rx[b][:, 1], int(secs * FS))
                dd["pesq"], dd["estoi"] = (round(float(np.mean(v)), 3) for v in zip(*each))
            elif kind != "chirp":
                y = rx[b][int(0.5 * FS):-int(0.05 * FS), 1]
                e, bf, A, at_sample = glitches(y)
                dd["glitches"] = e
                at_us = [ck[b].called_us(i + int(0.5 * FS)) for i in at_sample]
                dd["glitch_ms"] = [round(float(t - t0 * 1e6) / 1e3, 1) for t in at_us]
                dd["near_xrun"] = sum(any(abs(t - x) <= 20e3 for x in xrun_us) for t in at_us)
                ev = None if e is None or ev is None else ev + e
                badf.append(bf)
                lev.append(round(float(A), 4))
                mins += len(y) / FS / 60
            res["dirs"][a + b] = dd
        if kind != "sine":
            L = np.array(lat)
            dev = 2 * period / FS * 1e3
            res["lat"] = {"n": len(L), "lost": lost}
            if len(L):
                res["lat"].update({k: round(float(v), 3) for k, v in
                                   dict(min=L.min(), med=np.median(L), p95=np.percentile(L, 95), max=L.max()).items()})
                res["m2e_med"] = round(float(np.median(L)) + dev, 3)
        if kind == "speech":
            for k in ("pesq", "estoi"):
                res[k] = round(float(np.mean([d[k] for d in res["dirs"].values()])), 3)
        if kind not in ("chirp", "noise", "speech"):
            res["glitch_per_min"] = None if ev is None else round(ev / mins, 1)
            res["glitches_alone"] = None if ev is None else sum(
                (d["glitches"] or 0) - d["near_xrun"] for d in res["dirs"].values())
            res["bad_pct"] = round(100 * float(np.mean(badf)), 3)
            res["level"] = lev
        if kind == "noise":
            res["unrepaired_per_min"] = round(float(np.mean([d["true_bad"]["per_min"] for d in res["dirs"].values()])), 1)
            res["unrepaired_pct"] = round(float(np.mean([d["true_bad"]["pct"] for d in res["dirs"].values()])), 2)
    except Exception as e:
        res["error"] = f"{type(e).__name__}: {e}"
    finally:
        if not keep:
            P.stop_all()
    return res


def show(r):
    if "error" in r:
        return f"{r['time']} {r['peer']:9} {r['opts']:26} p{r['period']:<4}{r['cond']:7} ERROR {r['error'][:300]}"
    l = r.get("lat", {})
    cpu = " ".join(f"{k}={'+'.join('%.1f' % x for x in v)}" for k, v in r["cpu"].items())
    return (f"{r['time']} {r['peer']:9} {r['opts']:26} p{r['period']:<4}{r['cond']:7} "
            f"lat {l.get('med')} p95 {l.get('p95')} max {l.get('max')} n{l.get('n')}/-{l.get('lost')} m2e {r.get('m2e_med')} "
            f"gl/min {r.get('glitch_per_min')} bad% {r.get('bad_pct')} unrepaired/min {r.get('unrepaired_per_min')} "
            f"unrepaired% {r.get('unrepaired_pct')} PESQ {r.get('pesq')} kb/s {r['kbps']} phase {r['phase_ms']} lev {r.get('level')} xr {r['xruns']} sk {r['skips']} "
            f"cpu {cpu} other {r['other_cpu']} rss {r['rss_mb']}")


def main():
    signal.signal(signal.SIGTERM, lambda *a: sys.exit(1))          # so that finally ends what was started
    ap = argparse.ArgumentParser()
    ap.add_argument("cases", nargs="*", help="peer[:opt=val,..]@period@cond")
    ap.add_argument("--file", help="cases, one a line")
    ap.add_argument("--secs", type=float, default=20)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--repeat", type=int, default=1)
    ap.add_argument("--kind", default="both")
    ap.add_argument("--sync", action="store_true", help="jackd -S")
    ap.add_argument("--out", default=f"{SCR}/results.jsonl")
    ap.add_argument("--down", action="store_true", help="remove the namespaces and stop")
    a = ap.parse_args()
    if a.down:
        net_down()
        return
    if a.file:
        a.cases += [l.strip() for l in open(a.file) if l.strip() and not l.startswith("#")]
    for rep in range(a.repeat):
        for c in a.cases:
            head, period, cond = c.split("@")
            peer, _, opts = head.partition(":")
            r = run(peer, opts, int(period), cond, a.secs, a.seed + rep, a.kind, a.sync)
            with open(a.out, "a") as f:
                f.write(json.dumps(r) + "\n")
            print(show(r), flush=True)


if __name__ == "__main__":
    main()
