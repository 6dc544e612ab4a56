internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation
internal import Subprocess
internal import Support
internal import Transports

/// Measures `segue flow release` with the journal of a broker, from the start to the end of its process. Half of the
/// messages are inputs of sessions, and the others the states to which they led. The baseline is a machine in this
/// process that reads and handles the same inputs once.
struct ReleaseGate {
    let run: BenchmarkRun
    let scratch: Scratch

    /// The number of messages of each session.
    private static let messageCount = 10
    /// The number of messages in a batch.
    private static let batchCount = 1000

    func measure() async throws -> [BenchmarkResult] {
        let app = try TabApp()
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability)
        let flows = [("old", TabApp.yaml), ("new", TabApp.yaml.replacing(scalars: "version: 1", with: "version: 2"))]
        for (name, yaml) in flows {
            try yaml.write(toFile: "\(broker.directory)/\(name).yaml", atomically: true, encoding: .utf8)
        }
        let sessions = max(1, run.messages / Self.messageCount)
        let comparison = try await broker.run { _ in
            try await fill(broker, sessions, app)
            return try await BaselineComparison(
                rounds: run.options.rounds, count: sessions * Self.messageCount, warmUp: nil
            ) { count in
                let begin = ContinuousClock.now
                for session in 0..<sessions { _ = try messages(of: "session-\(session)", app, withStates: false) }
                return Double(count) / ((.now - begin) / .seconds(1))
            } value: { count in
                let begin = ContinuousClock.now
                try await release(broker)
                return Double(count) / ((.now - begin) / .seconds(1))
            }
        }
        return [
            run.result(
                comparison, unit: "messages/s", baseline: "a machine alone: the inputs made, read and handled once",
                processes: 1, settings: ["sessions": .count(sessions)])
        ]
    }

    /// The messages of a session, in the order of the bus.
    private func messages(of session: String, _ app: TabApp, withStates: Bool = true) throws -> [Envelope] {
        var machine = Machine(flow: app.flow, session: session)
        return try (0..<Self.messageCount / 2).flatMap { index in
            let input = try index == 0 ? app.launch(of: session) : app.tap(in: session)
            try app.handle(input, with: &machine)
            return withStates ? [input, try app.document(of: machine, causedBy: input)] : [input]
        }
    }

    private func fill(_ broker: BusProcess, _ sessions: Int, _ app: TabApp) async throws {
        let bus = try BusFactory.standard.bus(
            at: broker.address, source: "benchmark/1",
            logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
        try await bus.whileOpen {
            var batch: [Envelope] = []
            for session in 0..<sessions {
                batch += try messages(of: "session-\(session)", app)
                if batch.count >= Self.batchCount || session == sessions - 1 {
                    try await bus.publish(Batch(batch))
                    batch = []
                }
            }
        }
    }

    private func release(_ broker: BusProcess) async throws {
        let source =
            broker.isNATS ? ["--bus", broker.address] : ["--journal", "\(broker.directory)/journal.sqlite"]
        let configuration = Executables.configuration(
            try Executables.path(of: "segue"),
            ["flow", "release", "\(broker.directory)/old.yaml", "\(broker.directory)/new.yaml"] + source)
        let result = try await Subprocess.run(
            configuration, input: .none, output: .discarded, error: .currentStandardError)
        guard result.terminationStatus.isSuccess else {
            throw BenchmarkError("'segue flow release' ended with \(result.terminationStatus)")
        }
    }
}
