internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import Synchronization

/// An event of the bus that is reported to people. The steward logs it and publishes the message that
/// ``StewardConfiguration/describe`` makes of it.
package struct StewardNotice: Hashable, Sendable {
    package enum Code: String, Sendable, CaseIterable {
        /// The journal has lost messages at its end.
        case lostEnd = "journal.lost-end"
        /// A server lacks messages that other servers have.
        case incompleteReplica = "journal.incomplete"
        /// No server has a message of the journal any more.
        case damaged = "journal.damaged"
        /// The journal is nearly full, and a consumer has not handled its oldest messages.
        case consumerBehind = "consumer.behind"
        /// Retention has removed messages that a consumer had not handled.
        case consumerCutOff = "consumer.cut-off"
        /// A durable consumer has had no valid claim for some time, and handles nothing.
        case consumerStalled = "consumer.stalled"
        /// A record of the bus cannot be read, or has impossible values.
        case damagedRecord = "record.damaged"
    }

    package let code: Code

    /// True if messages are lost or in danger.
    package var isError: Bool { [.lostEnd, .incompleteReplica, .damaged, .damagedRecord].contains(code) }

    /// One line for people: what has happened, and where.
    package let message: String
}

/// Publishes and logs notices.
final class StewardNotices: Sendable {
    private let jetStream: JetStream
    private let names: StreamNames
    private let describe: (@Sendable (StewardNotice) -> Envelope?)?
    private let logger: Logger
    private let posted: AsyncStream<StewardNotice>
    private let poster: AsyncStream<StewardNotice>.Continuation
    private let reported = Mutex(ReportedDamage())

    init(_ jetStream: JetStream, _ names: StreamNames, _ configuration: StewardConfiguration, _ logger: Logger) {
        self.jetStream = jetStream
        self.names = names
        self.logger = logger
        describe = configuration.describe
        (posted, poster) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Publishes what is posted until the task is cancelled.
    func run() async throws {
        for await notice in posted { try await publish(notice) }
    }

    /// Logs a notice, and publishes it.
    func say(_ code: StewardNotice.Code, _ message: String) async throws {
        try await publish(log(code, message))
    }

    /// Logs a notice, and lets ``run()`` publish it. While 64 others wait, the oldest one is only logged.
    func post(_ code: StewardNotice.Code, _ message: String) {
        poster.yield(log(code, message))
    }

    /// Posts that a record is damaged, once for each.
    func report(_ damaged: DamagedRecord) {
        guard reported.withLock({ $0.insert(damaged) }) else { return }
        post(.damagedRecord, "\(damaged)")
    }

    private func log(_ code: StewardNotice.Code, _ message: String) -> StewardNotice {
        let notice = StewardNotice(code: code, message: message)
        logger.log(level: notice.isError ? .error : .warning, "\(message)", metadata: ["code": "\(code.rawValue)"])
        return notice
    }

    private func publish(_ notice: StewardNotice) async throws {
        guard let envelope = describe?(notice) else { return }
        let publication = try Publication(Batch([envelope]))
        let headers = BatchHeaders(id: "notice-\(envelope.id)", count: publication.count)
        _ = try await jetStream.retrying {
            try await jetStream.publish(
                publication.subject.text(in: names.namespace), headers: NATSHeaders(headers.fields),
                body: publication.body)
        }
    }
}
