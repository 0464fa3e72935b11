# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium in a room of `earshot host`, by the room's own signalling: speech each way, leaving, coming back.

    room.py EARSHOT FOLDER [SECONDS]     prints `scenario` lines; the status says whether all passed
"""
import http.server
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import scipy.io.wavfile

import browser
import speech

RATE = browser.RATE
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Browser", "page.html")


class Page(http.server.ThreadingHTTPServer):
    """Serves the page, tells it what to do, takes what it hears."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.words, self.replies, self.remote, self.lock = queue.Queue(), queue.Queue(), [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def tell(self, word, seconds=20):
        self.words.put(word)
        reply = self.replies.get(timeout=seconds)
        if reply.startswith("error:"):
            raise RuntimeError(f"{word}: {reply}")
        return reply

    def heard(self):
        with self.lock:
            return np.concatenate(self.remote) if self.remote else np.zeros(0)

    def handle_error(self, *_):
        pass  # the browser has ended


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, body=b"", kind="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            with open(PAGE, "rb") as page:
                return self.reply(page.read(), "text/html")
        if self.path != "/next":
            return self.send_error(404)
        try:
            self.reply(self.server.words.get(timeout=20).encode())
        except queue.Empty:
            self.reply()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/done":
            self.server.replies.put(body.decode())
        else:
            with self.server.lock:
                self.server.remote.append(np.frombuffer(body, "<f4").reshape(-1, 2)[:, 0].astype(float))
        self.reply()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def chromium(folder, page):
    return subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-breakpad",
         "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile",
         "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
         f"--use-file-for-fake-audio-capture={folder}/speech.wav", "--autoplay-policy=no-user-gesture-required",
         "--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns",
         # The room has its own certificate; its page does not belong to the room yet.
         "--ignore-certificate-errors", "--disable-web-security", f"http://localhost:{page.server_port}/"],
        stderr=subprocess.DEVNULL, start_new_session=True)


def transport(report):
    stats = json.loads(report)["stats"]
    return next(s for s in stats if s["type"] == "transport")


def judge(words, heard, sent, spans):
    scores, _ = browser.clips(sent.astype(float), spans, heard)
    if not scores:
        print(f"scenario FAILED: room: {words}: no speech was found in {len(heard) / RATE:.0f} s", flush=True)
        return False
    pesq, stoi = (np.array([s[n] for s in scores]) for n in (0, 1))
    good = np.median(pesq) >= browser.LIMIT  # one clip may lie where the machine stood still
    print(f"scenario {'passed' if good else 'FAILED'}: room: {words}: {len(heard) / RATE:.0f} s, {len(scores)} clips: PESQ-WB "
          f"{np.median(pesq):.2f} in the middle (at least {browser.LIMIT}; lowest {np.min(pesq):.2f}), eSTOI {np.mean(stoi):.3f}", flush=True)
    return good


def main():
    earshot, folder = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 120
    sent, spans = speech.joined(RATE)
    times = (seconds + 60) * RATE // len(sent) + 1
    scipy.io.wavfile.write(f"{folder}/speech.wav", RATE, (np.tile(sent, times) * 32767).astype(np.int16))
    port, page = free_port(), Page()
    room = f"https://127.0.0.1:{port}"
    host = subprocess.Popen(
        [earshot, "host", "Quality", "--ephemeral", "--no-announce", "--accept", "all", "--device", "simulated", "--block",
         "128", "--speak", f"{folder}/speech.wav", "--overwrite", "--hear", f"{folder}/host.wav", "--duration", str(seconds + 40), "--port",
         str(port), "--address", "127.0.0.1", "--json"],
        stdout=open(f"{folder}/host.json", "w"), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    host.stderr.readline()
    threading.Thread(target=host.stderr.read, daemon=True).start()
    chrome = chromium(folder, page)
    try:
        page.tell("listen")
        page.tell(f"join?room={room}")
        begin, first = time.monotonic_ns(), len(page.heard())
        time.sleep(seconds)
        way = transport(page.tell("report"))
        end, last = time.monotonic_ns(), len(page.heard())
        page.tell("leave")
        time.sleep(0.5)
        again = time.monotonic()
        page.tell(f"join?room={room}")
        again = time.monotonic() - again
        resumed = len(page.heard())
        time.sleep(4)
        page.tell("report")
        page.tell("leave")
        heard = page.heard()
    finally:
        os.killpg(chrome.pid, 15)
        chrome.wait()
        host.terminate()
        try:
            host.wait(10)
        except subprocess.TimeoutExpired:
            host.kill()
    report = json.load(open(f"{folder}/host.json"))
    x, _ = speech.read(f"{folder}/host.wav")
    start = report["heard"]["firstFrameMonotonicNanoseconds"]
    span = [max(0, int((t - start) * 1e-9 * RATE)) for t in (begin, end)]
    good = judge("Chromium to Earshot", x[span[0]:span[1]], sent, spans)
    good &= judge("Earshot to Chromium", heard[first:last], sent, spans)
    isSafe = way.get("srtpCipher") == "SRTP_AEAD_AES_128_GCM"
    print(f"scenario {'passed' if isSafe else 'FAILED'}: room: media by {way.get('srtpCipher')}, Chromium as DTLS "
          f"{way.get('dtlsRole')}", flush=True)
    level = float(np.sqrt(np.mean(heard[resumed:] ** 2))) if len(heard) > resumed else 0.0
    isBack = level > 0.01
    print(f"scenario {'passed' if isBack else 'FAILED'}: room: left and came back in {again * 1e3:.0f} ms; what was heard then has "
          f"a level of {level:.3f}", flush=True)
    return 0 if good and isSafe and isBack else 1


if __name__ == "__main__":
    sys.exit(main())
