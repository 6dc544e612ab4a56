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
}
