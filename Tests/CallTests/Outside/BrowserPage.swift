/// The page that a browser has in the tests: it does what it is told by `GET /next`, and hands out what it hears.
///
/// A worklet keeps two channels: what comes over the call, and its own microphone, by the clock of one audio context.
let browserPage = """
    <!doctype html><title>Earshot</title><script>
    const recorder = `registerProcessor('recorder', class extends AudioWorkletProcessor {
      constructor() { super(); this.size = 24000; this.fresh(); }
      fresh() { this.block = new Float32Array(2 * this.size); this.count = 0; }
      process(inputs) {
        for (let i = 0; i < 128; i++) for (let c = 0; c < 2; c++)
          this.block[2 * (this.count + i) + c] = inputs[c].length ? inputs[c][0][i] : 0;
        this.count += 128;
        if (this.count + 128 > this.size) {
          this.port.postMessage({end: currentFrame + 128, block: this.block.slice(0, 2 * this.count)});
          this.fresh();
        }
        return true;
      }
    })`;
    let context, node, mic, pc, remote, last = Promise.resolve();
    const post = async (path, body) => (await fetch(path, {method: 'POST', body})).text();

    async function listen() {
      context = new AudioContext({sampleRate: 48000, latencyHint: 'interactive'});
      await context.audioWorklet.addModule(URL.createObjectURL(new Blob([recorder], {type: 'text/javascript'})));
      node = new AudioWorkletNode(context, 'recorder', {numberOfInputs: 2, numberOfOutputs: 1});
      node.connect(context.destination);
      node.port.onmessage = ({data}) => { last = last.then(() => post('/sound?end=' + data.end, data.block)); };
      mic = await navigator.mediaDevices.getUserMedia(
        {audio: {echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1}});
      context.createMediaStreamSource(mic).connect(node, 0, 1);
      await context.resume();
      return 'listening';
    }
    async function join(query) {
      pc = new RTCPeerConnection();
      pc.addTrack(mic.getAudioTracks()[0], mic);
      if (query.includes('data')) pc.createDataChannel('chat');
      pc.ontrack = ({track}) => {
        const stream = new MediaStream([track]);
        const player = document.body.appendChild(document.createElement('audio'));
        player.muted = true;
        player.srcObject = stream;
        player.play();
        remote = context.createMediaStreamSource(stream);
        remote.connect(node, 0, 0);
      };
      await pc.setLocalDescription(await pc.createOffer());
      const answer = await post('/offer?' + query, pc.localDescription.sdp);
      await pc.setRemoteDescription({type: 'answer', sdp: answer});
      await new Promise((done, failed) => {
        const look = () => {
          if (pc.connectionState == 'connected') done();
          if (pc.connectionState == 'failed') failed(Error('the connection failed'));
        };
        pc.onconnectionstatechange = look;
        look();
        setTimeout(() => failed(Error('no connection after 8 s: ' + pc.connectionState)), 8000);
      });
      return 'connected';
    }
    async function report() {
      let all = [];
      (await pc.getStats()).forEach(s => {
        if (['transport', 'inbound-rtp', 'outbound-rtp', 'remote-inbound-rtp', 'codec', 'candidate-pair'].includes(s.type))
          all.push(s);
      });
      const {contextTime, performanceTime} = context.getOutputTimestamp();
      return JSON.stringify({contextTime, wallTime: (performance.timeOrigin + performanceTime) / 1e3,
        state: pc.connectionState, stats: all});
    }
    async function leave() {
      remote.disconnect();
      pc.close();
      return 'left';
    }
    (async () => {
      while (true) {
        const word = await (await fetch('/next')).text();
        if (!word) continue;
        const [name, query] = word.split('?');
        try {
          await post('/done', await ({listen, join, report, leave})[name](query || ''));
        } catch (error) {
          await post('/done', 'error: ' + error);
        }
      }
    })();
    </script>
    """
