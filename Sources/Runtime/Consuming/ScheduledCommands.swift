internal import Contracts
public import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// A command to send later.
public struct LaterCommand: HandlerResult {
    enum Time: Sendable {
        case at(Date)
        case after(Duration)
    }

    let command: any CommandMessage
    let time: Time
    let id: String

    /// The maximum number of commands that one call of a handler may schedule.
    static let maximumInResult = 16

    /// The document that records the command.
    /// - Throws: `InvalidResult` if the id or the time cannot be recorded, or the command cannot be encoded.
    func document(of consumer: String, now: Date) throws -> Document.ScheduledCommand {
        let time =
            switch time {
            case .at(let time): time
            case .after(let delay): now + delay
            }
        guard Timestamp.canHold(time) else { throw InvalidResult("schedules a command outside the years 0 to 9999") }
        let type = Swift.type(of: command).type
        let data = try JSONValue(parsing: try Envelope(command, source: consumer).data)
        return Document.ScheduledCommand(
            at: time, command: Document.ScheduledCommand.Content(type: type, data: data), consumer: consumer, id: id)
    }
}

/// The commands that the handlers of a durable consumer have scheduled: durable timers, each recorded by a
/// `document.ScheduledCommand`.
struct ScheduledCommands: Sendable {
    /// The maximum number of scheduled commands of a session and consumer.
    static let maximumInSession = 64

    let timers: OpenTimers
    private let consumer: String

    init(of consumer: String, source: String, clock: ServiceClock) {
        self.consumer = consumer
        timers = OpenTimers(clock: clock) { document in
            try Self.firing(of: document, source: source, now: clock.now())
        }
    }

    /// The command that a document records, and the withdrawal of the document. The command begins its lifetime now.
    private static func firing(of document: Envelope, source: String, now: Date) throws -> [Envelope] {
        let scheduled = try document.decode(Document.ScheduledCommand.self)
        guard scheduled.command.type.kind == .command else {
            throw BusError(.malformed, "\(scheduled.command.type) is not a command")
        }
        // Two processes never publish the command of a document, but a reader may see it again after a resend.
        let id = DerivedID.shared(from: document.id, name: "fired")
        var attributes = Attributes(
            type: scheduled.command.type, source: source, causedBy: document.attributes, id: id, time: now)
        attributes.expireAsUsual()
        let command = Envelope(attributes: attributes, data: Data(scheduled.command.data.description.utf8))
        let withdrawal = Envelope.withdrawal(
            document.type, key: document.attributes.key, source: source, causedBy: document.attributes)
        return [command, withdrawal]
    }

    /// Opens the timers of the claimed partitions.
    /// - Parameter new: the partitions that were lost, or have to be read anew.
    func adopt(_ claim: ConsumerClaim, new: Set<Partition>, on bus: EventBus) async throws {
        try await timers.adopt(Set(claim.offsets.keys), new: new) {
            guard !claim.offsets.isEmpty else { return [] }
            return try await bus.documents(matching: [.type(Document.ScheduledCommand.self)])
                .filter { claim.offsets[$0.partition] != nil }.compactMap { timer(of: $0) }
        }
    }

    /// The results of a handler, with the changes of the timers when they are recorded.
    /// - Throws: ``InvalidResult`` if the session would have too many timers.
    func recording(_ handled: Handled, in session: String) throws -> Handled {
        let documents = handled.messages.filter { $0.type == Document.ScheduledCommand.type }
        guard !documents.isEmpty else { return handled }
        // The last document of a name is the one that the bus keeps.
        let last = Dictionary(documents.map { (DocumentName($0), $0) }) { $1 }
        let opened = last.values.compactMap { timer(of: $0) }
        let closed = Set(last.keys)
        let count = timers.documents(of: session).subtracting(closed).count + opened.count
        guard count <= Self.maximumInSession else {
            throw InvalidResult("schedules more than \(Self.maximumInSession) commands in the session")
        }
        var handled = handled
        handled.whenRecorded = { [timers, whenRecorded = handled.whenRecorded] in
            timers.apply(opened: opened, closed: closed)
            whenRecorded?()
        }
        return handled
    }

    /// True unless a document records a scheduled command of another consumer.
    func isOwn(_ document: Envelope) -> Bool {
        document.type != Document.ScheduledCommand.type || timer(of: document) != nil
    }

    /// The timer that a document records. Nil if it is a withdrawal, another consumer's, or unreadable.
    private func timer(of document: Envelope) -> DurableTimer? {
        guard !document.isTombstone, let scheduled = try? document.decode(Document.ScheduledCommand.self),
            scheduled.consumer == consumer
        else { return nil }
        return timers.timer(DocumentName(document), at: scheduled.at)
    }
}
