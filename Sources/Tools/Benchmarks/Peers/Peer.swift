internal import Foundation

/// A process of a benchmark.
struct Peer: Sendable {
    let role: PeerRole
    /// The address of the bus. In a baseline, the folder of the proxy's sockets or the path of the database.
    let address: String
    /// The number of subscribers in the process.
    let connections: Int
    let durability: BenchmarkDurability

    /// Carries out orders until the benchmark is over.
    func run() async throws {
        let control = Control()
        switch role {
        case .busEcho: try await BusEcho(address: address).run(control)
        case .busClient: try await BusClient(address: address).run(control)
        case .busPublisher: try await BusPublisher(address: address).run(control)
        case .busSubscriber: try await BusSubscriber(address: address, connections: connections).run(control)
        case .busyCore, .journalFiller, .bareProxy, .bareEcho, .bareClient, .barePublisher, .bareSubscriber,
            .bareJournal, .jetStreamFiller, .jetStreamEcho, .jetStreamClient, .jetStreamPublisher,
            .jetStreamSubscriber, .natsCorePublisher, .natsCoreSubscriber:
            try await runOnThread(control)
        }
    }

    /// Runs a role that blocks its thread, on a separate thread.
    private func runOnThread(_ control: Control) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try runBlocking(control) }) }.start()
        }
    }

    private func runBlocking(_ control: Control) throws {
        switch role {
        case .busyCore: try BusyCore().run(control)
        case .journalFiller: try JournalFiller(address: address).run(control)
        case .bareProxy: try BareProxy(directory: address).run(control)
        case .bareEcho: try BareEcho(directory: address).run(control)
        case .bareClient: try BareClient(directory: address).run(control)
        case .barePublisher: try BarePublisher(directory: address).run(control)
        case .bareSubscriber: try BareSubscriber(directory: address, connections: connections).run(control)
        case .bareJournal: try BareJournal(path: address, durability: durability).run(control)
        case .jetStreamFiller: try JetStreamFiller(address: address).run(control)
        case .jetStreamEcho: try JetStreamEcho(address: address).run(control)
        case .jetStreamClient: try JetStreamClient(address: address).run(control)
        case .jetStreamPublisher: try JetStreamPublisher(address: address).run(control)
        case .jetStreamSubscriber: try JetStreamSubscriber(address: address, connections: connections).run(control)
        case .natsCorePublisher: try NATSCorePublisher(address: address).run(control)
        case .natsCoreSubscriber: try NATSCoreSubscriber(address: address).run(control)
        case .busEcho, .busClient, .busPublisher, .busSubscriber: break
        }
    }
}

/// The role of a process in a benchmark.
enum PeerRole: String, CaseIterable, Sendable {
    /// Answers each command with an event.
    case busEcho = "bus-echo"
    /// Sends commands, and waits for the answer to a command before it sends the next command.
    case busClient = "bus-client"
    case busPublisher = "bus-publisher"
    case busSubscriber = "bus-subscriber"
    /// Fills a journal as fast as the broker accepts batches.
    case journalFiller = "journal-filler"

    /// A proxy with XSUB and XPUB in place of the broker.
    case bareProxy = "bare-proxy"
    case bareEcho = "bare-echo"
    case bareClient = "bare-client"
    case barePublisher = "bare-publisher"
    case bareSubscriber = "bare-subscriber"
    /// SQLite without a bus.
    case bareJournal = "bare-journal"

    /// Fills a journal on NATS.
    case jetStreamFiller = "jetstream-filler"
    /// C on libnats, with the servers of the measured bus.
    case jetStreamEcho = "jetstream-echo"
    case jetStreamClient = "jetstream-client"
    case jetStreamPublisher = "jetstream-publisher"
    case jetStreamSubscriber = "jetstream-subscriber"
    /// C on libnats without JetStream.
    case natsCorePublisher = "nats-core-publisher"
    case natsCoreSubscriber = "nats-core-subscriber"

    /// Makes a core busy.
    case busyCore = "busy-core"
}
