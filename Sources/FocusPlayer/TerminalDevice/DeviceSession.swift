internal import Contracts
package import EventBus
internal import Foundation
package import Navigation
internal import Presentation
internal import Vocabulary

/// A device as a value: messages and lines of input go in, what is to be done comes out.
///
/// How a script's lines are taken is told in `DeviceSession+Script.swift`.
package struct DeviceSession: Sendable {
    /// Who writes the lines.
    package enum Mode: Sendable {
        /// A person, who sees the screen: a line is about what is on it now.
        case interactive
        /// A pipe or a file: a line waits for the screen that it is about.
        case scripted
    }

    package enum Input: Sendable {
        /// The subscription is live.
        case attached
        case message(Envelope)
        case line(String)
        case endOfInput
        /// The terminal has another size.
        case resized
        /// Why a URL could not be opened.
        case notOpened(String)
        /// The time for the wait with this number is over.
        case deadline(Int)
    }

    package enum Output: Sendable {
        /// The screen has changed.
        case draw
        /// Something to tell the person, besides the screen.
        case say(String)
        case publish(Envelope)
        /// A URL was requested for this device.
        case openURL(String)
        /// The person wants this URL opened.
        case browse(OpenableURL)
        /// Something on the bus could not be read.
        case unreadable(BusError)
        /// The next line is wanted.
        case read
        /// Give this wait a deadline.
        case startDeadline(Int)
        case fail(DeviceFailure)
        /// End; what was said is still to be sent.
        case end
    }

    let identity: DeviceIdentity
    let mode: Mode
    let commandLifetime: Duration
    /// How long a script's line may wait.
    let timeout: Duration
    /// What screens without a view model are shown by; nil if there are none.
    let flow: Flow?
    private(set) var snapshot: NavigationSnapshot?
    private(set) var documents = LatestDocuments()
    private var sessionDocuments = SessionDocuments()
    /// What was requested last for this device, until a person picks something else or has got on.
    var requestedURL: OpenableURL?
    /// The message that led to the request.
    var requestCause: String?
    var displayedRevision: Int?
    var goneInstances: Set<String> = []
    var script = Script()

    package init(
        _ identity: DeviceIdentity, mode: Mode, commandLifetime: Duration, timeout: Duration = .seconds(30),
        flow: Flow? = nil
    ) {
        self.identity = identity
        self.mode = mode
        self.commandLifetime = commandLifetime
        self.timeout = timeout
        self.flow = flow
    }

    /// What there is to show; nil until the platform's coordinator has said where it is.
    package var screen: TerminalScreen? {
        snapshot.map { snapshot in
            TerminalScreen(
                Scene(
                    snapshot: snapshot, documents: documents, flow: flow, sessionDocuments: sessionDocuments,
                    requestedURL: requestedURL))
        }
    }

    /// What to subscribe to.
    package var filters: [MessageFilter] {
        let types = Self.receives.types.filter { $0.kind != .document } + [Document.NavigationState.type]
        let documents =
            flow == nil
            ? LatestDocuments.filters(subject: identity.subject) : [.kind(.document, subject: identity.subject)]
        return documents
            + types.map { .type($0, subject: identity.subject) }
    }

    /// - Throws: ``BusError`` if a message cannot be written as JSON.
    package mutating func handle(_ input: Input) throws -> [Output] {
        switch input {
        case .attached:
            return [.publish(try envelope(DomainEvent.LaunchFinished(), instance: nil))]
        case .message(let message):
            let outputs = try receive(message)
            return try outputs + (isAnswer(message) ? read() : advance())
        case .line(let line):
            return try mode == .scripted ? wait(for: .screen(for: line)) + advance() : answer(line)
        case .endOfInput:
            return try mode == .scripted ? wait(for: .end) + advance() : [.end]
        case .resized:
            return [.draw]
        case .notOpened(let reason):
            return [.say(reason)]
        case .deadline(let number):
            return expire(number)
        }
    }

    private mutating func receive(_ message: Envelope) throws -> [Output] {
        var outputs: [Output] = []
        do {
            if message.type == Document.NavigationState.type, message.attributes.key == identity.platform {
                let root = snapshot?.state.root.instance.id
                snapshot = message.isTombstone ? nil : try message.decode(Document.NavigationState.self).snapshot
                if root != snapshot?.state.root.instance.id { leaveRoot(by: message) }
                outputs = try [.draw] + reports()
            } else if try receive(document: message) {
                outputs = [.draw]
            } else {
                outputs = try notices(of: message)
            }
        } catch let error as BusError where error.code == .malformed {
            return [.unreadable(error)]
        }
        return outputs
    }

    /// - Returns: whether there is something else to show now.
    private mutating func receive(document message: Envelope) throws -> Bool {
        let isShown = try flow != nil && sessionDocuments.receive(message)
        return try documents.receive(message) || isShown
    }

    /// Takes a person's line: about what is on the screen now.
    mutating func answer(_ line: String) throws -> [Output] {
        let answer = Answer(line)
        let picked: (choice: Choice, screen: TerminalScreen)
        switch answer {
        case .quit: return [.end]
        case .nothing: return [.draw, .read]
        case .openURL: return [screen?.url.map(Output.browse) ?? .say("There is no URL to open here."), .read]
        default: break
        }
        do throws(TypedFields.Mistake) {
            guard let screen, let choice = try screen.pick(answer) else {
                return [.say("There is no '\(line)' to pick here."), .read]
            }
            picked = (choice, screen)
        } catch {
            return [.say(error.description), .read]
        }
        return [.publish(try pick(picked.choice, on: picked.screen).message), .read]
    }

    mutating func pick(_ choice: Choice, on screen: TerminalScreen) throws -> (pick: Script.Pick, message: Envelope) {
        let message = try envelope(choice)
        let pick = Script.Pick(choice: choice, id: message.id)
        script.note(pick, on: screen)
        // Closing a banner does not answer the request.
        if choice.outcome != .closedBanner { requestedURL = nil }
        return (pick, message)
    }

    /// Another root is another part of the app: after a log-in nobody wants its URL any more, which takes a good part of
    /// a small terminal. It stays if both come of one message.
    mutating func leaveRoot(by message: Envelope) {
        guard mode == .interactive, message.attributes.causationID != requestCause else { return }
        requestedURL = nil
    }

    /// What else concerns the person in front of this device.
    mutating func notices(of message: Envelope) throws -> [Output] {
        switch message.type {
        case DomainEvent.URLOpenRequested.type where identity.isAddressed(by: message):
            let url = try message.decode(DomainEvent.URLOpenRequested.self).url
            requestedURL = OpenableURL(url)
            requestCause = message.attributes.causationID
            return [.openURL(url)]
        case DomainEvent.MessageDiscarded.type:
            let discarded = try message.decode(DomainEvent.MessageDiscarded.self)
            return discarded.messageID == script.lastPickID ? [.say("That came too late: \(discarded.reason)")] : []
        case DomainEvent.PlaybackStarted.type:
            return [.say("Spotify plays.")]
        default:
            return []
        }
    }

    /// What a view tells of its own accord, to be sent once the screen is drawn. It has no animation: what is leaving
    /// is gone at once.
    mutating func reports() throws -> [Output] {
        guard let snapshot else { return [] }
        var reports: [Envelope] = []
        if snapshot.revision != displayedRevision {
            displayedRevision = snapshot.revision
            let top = snapshot.state.top.id
            reports.append(try envelope(Command.ScreenDisplayed(revision: snapshot.revision), instance: top))
        }
        let leaving = snapshot.state.leaving.map(\.id)
        for instance in leaving where !goneInstances.contains(instance) {
            reports.append(try envelope(Command.ScreenGone(instance: instance), instance: instance))
        }
        goneInstances = Set(leaving)
        return reports.map(Output.publish)
    }

    /// Wraps a choice. What expires is an intent: a report tells what has happened, however late it is.
    func envelope(_ choice: Choice) throws -> Envelope {
        var envelope = try envelope(choice.content, instance: choice.instance)
        guard !choice.isReport else { return envelope }
        envelope.attributes.expire(after: commandLifetime)
        return envelope
    }

    private func envelope(_ content: Choice.Content, instance: String) throws -> Envelope {
        switch content {
        case .command(let command): return try envelope(command, instance: instance)
        case .named(let type, let fields):
            var attributes = Attributes(type: type, source: identity.source, subject: identity.subject)
            attributes.platform = identity.platform
            attributes.device = identity.device
            attributes.instance = instance
            return Envelope(attributes: attributes, data: Data(JSONValue.object(fields).description.utf8))
        }
    }

    func envelope(_ message: some Message, instance: String?) throws -> Envelope {
        try Envelope(
            message, source: identity.source, subject: identity.subject, origin: identity.origin(instance))
    }
}

// How the lines of a script are taken, so that it does the same however fast or slow the services are:
//
// 1. One line after the other. A line's turn comes when what was picked before it has been answered: by a state of the
//    navigation in which no guard waits for it any more, a URL to open, playback, an error or a refusal that the pick led
//    to (the same correlation); if no rule of the flow hears it, by a document.
// 2. A line waits until what it names is on the screen.
// 3. A number counts what is on the screen. It also waits until no list is still loading, and, after a pick, until other
//    screens are in front than those which that pick was made on. To pick twice on one screen, use names.
// 4. `@screen` waits until a screen of this name can be acted on.
// 5. After the last line, and at `q`, it ends once the last pick is answered and something has been drawn.
//
// Each wait has a deadline; after it the device fails with what it waited for and what was on the screen.
extension DeviceSession {
    /// Goes on with the script as far as it can.
    mutating func advance() throws -> [Output] {
        guard mode == .scripted, let screen else { return [] }
        switch script.wait {
        case .line, .answer: return []
        case .end: return [.end]
        case .screen(let line): return try take(line, on: screen)
        }
    }

    private mutating func take(_ line: String, on screen: TerminalScreen) throws -> [Output] {
        let answer = Answer(line)
        switch answer {
        case .nothing: return read()
        case .quit: return [.end]
        case .openURL: return screen.url.map { [.say("> o (\($0.text))"), .browse($0)] + read() } ?? []
        case .screen(let name): return screen.active.contains { $0.screen == name } ? read() : []
        case .number where screen.isLoading || !script.isNew(screen): return []
        case .number, .text, .back, .dismiss, .dismissError:
            let choice: Choice
            do throws(TypedFields.Mistake) {
                guard let picked = try screen.pick(answer) else { return [] }
                choice = picked
            } catch {
                return [.fail(.unreadable(error.description.printable))]
            }
            let (pick, message) = try pick(choice, on: screen)
            return [.say("> \(line) (\(choice.label))"), .publish(message)] + wait(for: .answer(to: pick))
        }
    }

    /// Whether the message is what the script's last pick has been waiting for.
    func isAnswer(_ message: Envelope) -> Bool {
        guard mode == .scripted, case .answer(let pick) = script.wait else { return false }
        return pick.isAnswered(by: message, to: identity, banner: documents.errorBanner?.errorID)
    }

    mutating func read() -> [Output] {
        [.read] + wait(for: .line)
    }

    mutating func wait(for wait: Script.Wait) -> [Output] {
        let number = script.wait(for: wait)
        // How long its next line takes is the writer's business.
        if case .line = wait { return [] }
        return [.startDeadline(number)]
    }

    func expire(_ number: Int) -> [Output] {
        guard number == script.waitNumber else { return [] }
        let awaited =
            switch script.wait {
            case .line, .end: "nothing could be shown"
            case .screen(let line): "'\(line)' could not be picked"
            case .answer(let pick): "'\(pick.choice.label)' was sent and not answered"
            }
        return [.fail(.timeout("\(awaited) within \(timeout); \(whatIsShown)".printable))]
    }

    private var whatIsShown: String {
        guard let screen else { return "no coordinator has shown a screen of \(identity.platform)" }
        let names = screen.active.map(\.screen).joined(separator: ", ")
        let labels = screen.choices.prefix(8).map(\.label) + (screen.choices.count > 8 ? ["…"] : [])
        let shown = "on screen is \(names) with \(labels.isEmpty ? "nothing to pick" : labels.joined(separator: ", "))"
        guard case .screen(let line) = script.wait, Int(line) != nil, !script.isNew(screen) else { return shown }
        return shown + "; a number waits for another screen than the last pick's, a name does not"
    }
}

/// Who a device is on the bus.
package struct DeviceIdentity: Hashable, Sendable {
    package var platform: String
    /// Tells it from other devices of the platform.
    package var device: String
    /// The session, one user's app.
    package var subject: String
    /// The process, `name/instance`.
    package var source: String

    package init(platform: String, device: String, subject: String = Session.default, source: String) {
        self.platform = platform
        self.device = device
        self.subject = subject
        self.source = source
    }

    func origin(_ instance: String?) -> Origin {
        Origin(platform: platform, device: device, instance: instance)
    }

    /// Whether a message is for this device: for its platform, and for no other device of it.
    func isAddressed(by message: Envelope) -> Bool {
        message.attributes.platform == platform && [nil, device].contains(message.attributes.device)
    }
}

/// A script that cannot go on.
package struct DeviceFailure: Error, Hashable, CustomStringConvertible {
    /// Stable: `device.timeout`, `device.unreadable`.
    package let code: String
    /// One line: what was awaited, and what was on screen instead; or what is wrong with a line.
    package let message: String

    package var description: String { message }

    static func unreadable(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.unreadable", message: message)
    }

    static func timeout(_ message: String) -> DeviceFailure {
        DeviceFailure(code: "device.timeout", message: message)
    }
}
