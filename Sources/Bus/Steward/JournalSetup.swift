internal import EventBus
internal import Logging
internal import NATS
internal import NATSLayout
internal import Support

/// Checks the servers and makes the streams, with errors for people.
struct JournalSetup: Sendable {
    /// The time for which the servers of a cluster may find each other.
    private static let placementPatience = Duration.seconds(30)
    /// JetStream's numbers for streams whose replicas cannot be placed.
    private static let noPeers = JetStreamError.Code(rawValue: 10_005)
    private static let notClustered = JetStreamError.Code(rawValue: 10_074)

    private let jetStream: JetStream
    private let names: StreamNames
    private let configuration: StewardConfiguration
    private let logger: Logger

    init(_ jetStream: JetStream, names: StreamNames, configuration: StewardConfiguration, logger: Logger) {
        self.jetStream = jetStream
        self.names = names
        self.configuration = configuration
        self.logger = logger
    }

    private var place: String { jetStream.connection.options.addresses }

    /// Waits for a server, without a limit, and checks it.
    /// - Throws: ``BusError`` with code `address`.
    func checkServer() async throws {
        for await state in jetStream.connection.changes() {
            switch state {
            case .connected(let info): return try check(info)
            case .disconnected(let reason), .refused(let reason):
                logger.warning("waiting for NATS", metadata: ["servers": "\(place)", "reason": "\(reason)"])
            case .connecting, .closed: break
            }
        }
        try throwClosed()
    }

    /// Checks each server that the steward connects to.
    /// - Throws: ``BusError`` with code `address`.
    func checkServers() async throws {
        for await case .connected(let info) in jetStream.connection.changes() { try check(info) }
        try throwClosed()
    }

    private func throwClosed() throws {
        try Task.checkCancellation()
        throw NATSError(.closed, "the connection to NATS has ended")
    }

    private func check(_ info: NATSServerInfo) throws {
        let refusal = ServerRequirements.refusal(
            version: info.version, isNewEnough: info.isAtLeast(ServerRequirements.oldestVersion),
            maximumPayload: info.maximumPayload, at: place)
        if let refusal { throw refusal }
        guard info.hasJetStream != false else { throw withoutJetStream }
    }

    private var withoutJetStream: BusError {
        BusError(
            .address,
            "the server at \(place) has no JetStream for this account; write jetstream {} in its configuration")
    }

    /// Makes the streams that do not exist.
    /// - Throws: ``BusError`` with code `address` or `journal` if the servers cannot store them, or if they are of
    ///   another version.
    func journal() async throws -> JournalEpochs {
        let streams = JournalStreams(replicas: configuration.replicas, maximumSize: configuration.limits.lastStop)
        let start = ContinuousClock.now
        while true {
            do {
                let info = try await jetStream.retrying { try await streams.make(names, on: jetStream) }
                return try JournalEpochs(checking: info.metadata, of: names.journal, at: place)
            } catch let error as JetStreamError where [.notEnabled, .notEnabledForAccount].contains(error.code) {
                throw withoutJetStream
            } catch let error as JetStreamError where [.storageFull, .insufficientResources].contains(error.code) {
                throw BusError(
                    .journal,
                    "the servers at \(place) have too little storage for the streams of a bus, which need twice "
                        + "--retain-size and \(JournalStreams.overhead >> 20) MiB, "
                        + "\(configuration.limits.room >> 20) MiB in all, and documents and dead letters; raise "
                        + "max_file, or use a smaller --retain-size")
            } catch let error as JetStreamError where error.code == Self.notClustered {
                throw tooFewServers
            } catch let error as JetStreamError where error.code == Self.noPeers {
                // The servers of a cluster that has just been started may not know each other yet.
                guard ContinuousClock.now - start < Self.placementPatience else { throw tooFewServers }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private var tooFewServers: BusError {
        BusError(
            .address,
            "the servers at \(place) cannot store \(configuration.replicas ?? 1) replicas; start as many servers in one "
                + "cluster, or use a smaller --replicas")
    }
}
