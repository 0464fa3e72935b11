import AudioBase
import Call
import Foundation
import MediaTransport
import Nearby
import Rooms

/// A room as its person sees it: tells what happens, asks who is to be let in, and does what keys say.
///
/// For the command's thread.
final class RoomConsole {
    /// What has come and is not looked at yet.
    private final class Inbox: Sendable {
        let events = Guarded<[NearbyEvent]>([])
        /// The name of each member that the person was told of, also of those who left.
        let names = Guarded<[MemberID: String]>([:])

        /// Waits until the person was told of a member, a second at most, and returns the member's name.
        func introduced(_ member: MemberID) async -> String? {
            for _ in 0..<50 {
                if let name = names.withLock({ $0[member] }) { return name }
                try? await Task.sleep(for: .milliseconds(20))
            }
            return nil
        }
    }

    let session: NearbySession
    private(set) var keys: Keys?
    /// Whom to let in once this machine admits.
    private let policy: AdmissionPolicy
    private let inbox = Inbox()
    private var listener: Task<Void, Never>?
    private var receiver: Task<Void, Never>?
    private var pressed = RoomKeys()
    private var questions: [(id: AskID, question: RoomHost.Question)] = []

    /// Who is in the room; nil before.
    private(set) var roster: Roster?
    private(set) var me: MemberID?
    private(set) var isMuted = false
    /// How the way to each other member stands.
    private(set) var ways: [MemberID: TransportState] = [:]
    /// The room wants a PIN that was not given.
    var wantsPIN = false
    /// Why this is over.
    var ending: RoomGuest.Ending?
    /// Who was out of reach when the room gave it up, where it was the last.
    private(set) var vanished: Member?
    /// Those who are gone.
    private(set) var left: [Member] = []
    /// What a call with a member is like, for the line that tells of it.
    var describe: (MemberID) -> String? = { _ in nil }
    /// Whether there is to be sound, and not messages alone.
    var hasSound = false
    /// Whether it goes on where nobody else is in the room.
    var staysAlone = false
    /// Mutes, or no longer.
    var mute: (Bool) -> Void = { _ in }
    /// Why there is no sound with somebody, as it was told.
    private var disagreements: [MemberID: String] = [:]
    /// Of each whose link is too slow, which step down from what was agreed on is sent; beyond all, if even the last is too much.
    private var slowLinks: [MemberID: Int] = [:]
    /// Since when the host is looked for, and whether that was told.
    private var lostHost: (since: HostTime, isTold: Bool)?
    private static let lossPatience = 0.7
    /// Since when the host is asked, and whether it was told that this takes its time.
    private var asking: (since: HostTime, isTold: Bool)?
    private static let askingPatience = 2.0
    /// Whether the room was opened here.
    private var isFounder = false
    /// Of whom it was told that they admit.
    private var toldHost: MemberID?
    /// Who has been told to be in a call.
    private var told: Set<MemberID> = []

    init(_ session: NearbySession, keys: Keys?, policy: AdmissionPolicy) {
        self.session = session
        self.keys = keys
        self.policy = policy
        listener = Task { [inbox, events = session.events] in
            for await event in events { inbox.events.withLock { $0.append(event) } }
        }
    }

    deinit {
        listener?.cancel()
        receiver?.cancel()
    }

    /// Shows messages, and takes files into a folder, or declines them.
    /// - Parameter printsMessages: on standard output, rather than on the terminal.
    func receive(into folder: String?, printsMessages: Bool = false) {
        let arrivals = RoomArrivals(into: folder) { [session, inbox] id in
            if let name = await inbox.introduced(id) { return name }
            return await session.roster?[id]?.name.text ?? "somebody who left"
        } show: { name, text in
            let message = RoomArrivals.message(text, of: name)
            guard printsMessages else { return Terminal.say(message) }
            try? Terminal.output(TerminalText.sanitizedLines(message) + "\n")
        }
        receiver = Task { [session] in await arrivals.take(from: session.arrivals) }
    }

    /// From now on standard input is somebody else's.
    func giveUpKeys() { keys = nil }

    /// Answers who asks: `y` lets in, `n` declines, `b` blocks; by name or number where several ask.
    func answer(_ letter: String, _ which: String?) {
        guard let at = Self.meant(which, of: questions.map(\.question.name.text)) else {
            return Terminal.say(questions.isEmpty ? "nobody asks to join" : "\(numbered(questions)) ask; say which")
        }
        let id = questions[at].id
        act(letter == "y" ? .welcome(id) : letter == "n" ? .decline(id) : .bar(id))
    }

    /// Whom of those who ask a person means by a number from 1, or by a name; nil where it may be several. The number comes first:
    /// it is ours, and the name theirs.
    static func meant(_ which: String?, of names: [String]) -> Int? {
        guard let which else { return names.count == 1 ? 0 : nil }
        if let number = Int(which), number > 0, number <= names.count { return number - 1 }
        let named = names.indices.filter { names[$0] == which }
        return named.count == 1 ? named[0] : nil
    }

    /// `1 Ann, 2 Bob`.
    private func numbered(_ questions: some Collection<(id: AskID, question: RoomHost.Question)>) -> String {
        questions.enumerated().map { "\($0 + 1) \($1.question.name)" }.joined(separator: ", ")
    }

    /// The other members, in the order of their coming.
    var others: [Member] { roster?.members.filter { $0.id != me } ?? [] }

    var isHost: Bool { me != nil && roster?.host == me }

    var questionCount: Int { questions.count }

    /// Looks at what has happened.
    func take() {
        let new = inbox.events.withLock { events in
            defer { events = [] }
            return events
        }
        for event in new { take(event) }
        if !new.isEmpty {
            let members = left + (roster?.members ?? [])
            inbox.names.withLock { names in for member in members { names[member.id] = member.name.text } }
        }
        tellOfCalls()
        // A host that leaves as it should is followed within moments: not worth a word.
        if let (since, isTold) = lostHost, !isTold, HostTime.now().seconds(since: since) > Self.lossPatience {
            Terminal.warn("the host is out of reach; looking for it")
            lostHost = (since, true)
        }
        if let (since, isTold) = asking, !isTold, HostTime.now().seconds(since: since) > Self.askingPatience {
            Terminal.say("waiting for the host to answer; Ctrl-C gives up")
            asking = (since, true)
        }
    }

    private func take(_ event: NearbyEvent) {
        switch event {
        case .question(let id, let question): ask(id, question)
        case .withdrawn(let id, let error): withdraw(id, error)
        case .refused(let error, let guest): if let words = error.hostSentence(about: guest) { Terminal.warn(words) }
        case .asking(let info):
            asking = (.now(), false)
            Terminal.say("'\(info.name)' is there; asking its host, \(info.hostName), to be let in")
        case .pinNeeded: wantsPIN = true
        case .joined(let roster, let me): joined(roster, me)
        case .changed(let changes, let roster):
            self.roster = roster
            for change in changes { tell(change) }
        case .reconnecting: lostHost = (.now(), false)
        case .reconnected: foundHost()
        case .handedOver(let member):
            lostHost = nil
            tell(.host(member))
        case .becameHost(let roster): becameHost(roster)
        case .askingAgain(let member): Terminal.say("\(member.name) admits now and does not know you; asking again")
        case .split(let info):
            Terminal.warn(
                "another part of this room is about, under \(info.hostName): leave and join it by its host's address, if you want"
            )
        case .forged(let member):
            Terminal.warn(
                "what the host passed on as \(member.name)'s was not signed by them, and was not used: somebody may be between"
            )
        case .transport(let member, let state): moved(member, state)
        case .noMedia(let member): if hasSound { missing(member) }
        case .disagreed(let member, let error): disagreed(member, ErrorText.text(error))
        case .discovery(let state): if roster?.members.count != 1 || isFounder || staysAlone { tell(state) }
        case .store(let error): Terminal.warn("\(error)")
        case .ended(let ending):
            asking = nil
            self.ending = ending
        }
    }

    // MARK: Who asks

    private func ask(_ id: AskID, _ question: RoomHost.Question) {
        if let at = questions.firstIndex(where: { $0.id == id }) {
            questions[at].question = question
        } else {
            questions.append((id, question))
        }
        let key = question.key.map { "key \($0)" } ?? "a browser"
        let standing = question.isKnown ? "known" : question.key == nil ? "cannot prove who it is" : "not known"
        let purpose = question.purpose.map { ": \"\($0)\"" } ?? ""
        Terminal.warn("\(question.name) (\(key), \(standing), \(question.address)) asks to join\(purpose)")
        guard keys != nil else {
            guard isatty(STDIN_FILENO) == 1 else { return }
            return Terminal.say(
                questions.count > 1
                    ? "\(numbered(questions)) ask: /y and the number lets in, /n declines, /b blocks"
                    : "/y lets in, /n declines, /b blocks")
        }
        Terminal.say(
            questions.count > 1
                ? "\(numbered(questions.prefix(9))) ask: the number, then y lets in, n declines, b blocks"
                : "y lets in, n declines, b blocks")
    }

    private func withdraw(_ id: AskID, _ error: RoomError) {
        guard let at = questions.firstIndex(where: { $0.id == id }) else { return }
        let name = questions.remove(at: at).question.name
        if let words = error.hostSentence(about: name.text) { Terminal.say(words) }
    }

    // MARK: Who is there

    private func joined(_ roster: Roster, _ me: MemberID) {
        (self.roster, self.me) = (roster, me)
        lostHost = nil
        asking = nil
        guard roster.host != me else {
            isFounder = true
            return
        }
        let names = others.map { $0.id == roster.host ? "\($0.name) (host)" : $0.name.text }
        let own = roster[me]?.name.text ?? ""
        Terminal.say("in '\(roster.name)' as \(own), with \(names.joined(separator: ", "))")
    }

    private func foundHost() {
        if lostHost?.isTold == true { Terminal.say("the host is there again") }
        lostHost = nil
    }

    private func becameHost(_ roster: Roster) {
        lostHost = nil
        for change in self.roster.map({ roster.changes(since: $0) }) ?? [] { tell(change) }
        self.roster = roster
        let (session, policy) = (session, policy)
        waiting { await session.setPolicy(policy) }
        guard staysAlone || !others.isEmpty else { return }
        let ways = RoomIntroduction.waysIn(session).joined(separator: " or ")
        Terminal.say("you admit to the room now\(ways.isEmpty ? "" : "; others join with: earshot \(command) \(ways)")")
        Terminal.say(RoomIntroduction.admission(policy))
        if keys != nil { Terminal.say(RoomKeys.hint(isHost: true)) }
    }

    private func tell(_ change: RosterChange) {
        switch change {
        case .joined(let member): if member.id != me { Terminal.say("\(member.name) is in the room") }
        case .left(let member):
            guard !left.contains(where: { $0.id == member.id }) else { return }
            ways[member.id] = nil
            disagreements[member.id] = nil
            slowLinks[member.id] = nil
            told.remove(member.id)
            left.append(member)
            vanished = member.isAway ? member : nil
            Terminal.say(member.isAway ? "\(member.name) did not come back" : "\(member.name) has left")
        case .renamed(let member, let was): Terminal.say("\(was) is called \(member.name) now")
        case .muted(let member, let isMuted):
            if member.id != me {
                Terminal.say(isMuted ? "\(member.name) is muted" : "\(member.name) is not muted any more")
            }
        case .away(let member, let isAway):
            guard member.id != me else { return }
            if isAway {
                Terminal.warn("\(member.name) is out of reach; the place is kept for a minute")
            } else {
                Terminal.say("\(member.name) is there again")
            }
        case .moved: break
        case .host(let member):
            guard member.id != toldHost else { return }
            toldHost = member.id
            if member.id != me { Terminal.say("\(member.name) admits to the room now") }
        }
    }

    // MARK: Ways

    private func moved(_ member: Member, _ state: TransportState) {
        ways[member.id] = state
        switch state {
        case .failed(let error) where hasSound: Terminal.warn("no sound with \(member.name): \(error)")
        case .failed, .connecting, .securing, .open, .silent, .suspended, .closed: break
        }
    }

    /// Tells of calls that have begun. A way may be there before there is anybody to say what goes by it; and one that only
    /// writes has a way, and no call.
    private func tellOfCalls() {
        for member in others where !told.contains(member.id) {
            guard case .open? = ways[member.id], let words = describe(member.id) else { continue }
            told.insert(member.id)
            Terminal.say("in a call with \(member.name), \(words)")
        }
    }

    /// Told once, however often it is tried again.
    private func disagreed(_ member: Member, _ words: String) {
        guard hasSound, disagreements.updateValue(words, forKey: member.id) != words else { return }
        Terminal.warn("no sound with \(member.name): \(words)")
    }

    /// Tells when a link proves to be too slow for the sound, when it carries another rate, and when all is well again.
    func link(to member: Member, _ rate: RateState?) {
        let step = rate.map { $0.isTooSlow ? .max : $0.index } ?? 0
        let before = slowLinks.updateValue(step, forKey: member.id) ?? 0
        guard step != before else { return }
        if let words = rate?.words {
            Terminal.warn("\(member.name): \(words)")
        } else {
            Terminal.say("the link to \(member.name) carries all again")
        }
    }

    /// On a thread of its own: a look at the firewall may take a second.
    private func missing(_ member: Member) {
        let port = session.port
        Thread.detachNewThread {
            Terminal.warn(
                FirewallWords.noMedia(
                    from: member.name.text, Firewall.ofThisMachine(), port: port, farPort: member.port))
        }
    }

    /// What others come in with.
    private var command: String { hasSound ? "join" : "chat" }

    private func tell(_ state: RoomAdvertiser.State) {
        switch state {
        case .starting, .stopped: break
        case .advertising(let name):
            let how = (try? PeerName(name)).map { ": earshot \(command) \(HostCommand.argument(for: $0))" } ?? ""
            Terminal.say("\(state)\(how)")
        case .collision, .unavailable: Terminal.warn("\(state)")
        }
    }

    // MARK: Keys

    /// Waits for a key, or for as long as that.
    /// - Returns: whether it goes on.
    func press(within seconds: Double) -> Bool {
        guard let keys else {
            Thread.sleep(forTimeInterval: seconds)
            return true
        }
        while let key = keys.next(within: seconds) {
            let others = others.filter { $0.id != me }
            guard let action = pressed.take(key, questions: questions.map(\.id), others: others, isHost: isHost) else {
                continue
            }
            if action == .quit { return false }
            act(action)
        }
        return true
    }

    private func act(_ action: RoomKeys.Action) {
        let session = session
        switch action {
        case .welcome(let ask): answer(ask) { await session.decide(ask, isWelcome: true) }
        case .decline(let ask): answer(ask) { await session.decide(ask, isWelcome: false) }
        case .bar(let ask): answer(ask) { await session.block(ask) }
        case .remove(let member): waiting { await session.remove(member) }
        case .block(let member): waiting { await session.block(member) }
        case .mute:
            isMuted.toggle()
            mute(isMuted)
            let isMuted = isMuted
            waiting { await session.update(isMuted: isMuted) }
            Terminal.say(isMuted ? "muted; m speaks again" : "not muted any more")
        case .help: Terminal.say(RoomKeys.help(isHost: isHost))
        case .say(let words): Terminal.say(words)
        case .quit: break
        }
    }

    private func answer(_ ask: AskID, _ work: @escaping @Sendable () async -> Void) {
        questions.removeAll { $0.id == ask }
        waiting(work)
    }
}
