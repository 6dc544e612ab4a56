internal import BusFormat
internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import Synchronization

/// Publishes and logs notices.
final class StewardNotices: Sendable {
    private let jetStream: JetStream
    private let names: StreamNames
    private let describe: (@Sendable (BusNotice) -> Envelope?)?
    private let logger: Logger
    private let posted: AsyncStream<BusNotice>
    private let poster: AsyncStream<BusNotice>.Continuation
    private let reported = Mutex(ReportedDamage())

    init(_ jetStream: JetStream, names: StreamNames, configuration: StewardConfiguration, logger: Logger) {
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
    func say(_ code: BusNotice.Code, _ message: String) async throws {
        try await say(BusNotice(code, message))
    }

    /// Logs a notice, and publishes it.
    func say(_ notice: BusNotice) async throws {
        logger.log(notice)
        try await publish(notice)
    }

    /// Logs a notice, and lets ``run()`` publish it. While 64 others wait, the oldest one is only logged.
    func post(_ code: BusNotice.Code, _ message: String) {
        let notice = BusNotice(code, message)
        logger.log(notice)
        poster.yield(notice)
    }

    /// Posts that a record is damaged, once for each.
    func report(_ damaged: DamagedRecord) {
        guard reported.withLock({ $0.insert(damaged) }) else { return }
        post(.damagedRecord, "\(damaged)")
    }

    private func publish(_ notice: BusNotice) async throws {
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
