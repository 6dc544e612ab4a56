internal import Contracts
internal import EventBus
internal import Foundation
internal import Logging
internal import Navigation
internal import Support
internal import Transports

/// Measures a coordinator with a backlog of inputs. Each input changes a state. The baseline is a machine in this
/// process that handles the same inputs without a bus.
struct CoordinatorBacklog {
    /// The number of sessions in each measurement. The inputs are divided among the sessions.
    private static let sessionCounts = [1000, 1]
    /// The maximum number of inputs in a batch. Further inputs are sent in further batches.
    private static let batchCount = 100

    private let run: BenchmarkRun
    private let scratch: Scratch
    private let app: TabApp

    init(run: BenchmarkRun, scratch: Scratch) throws {
        self.run = run
        self.scratch = scratch
        app = try TabApp()
    }

    func measure() async throws -> [BenchmarkResult] {
        var results: [BenchmarkResult] = []
        for sessionCount in Self.sessionCounts {
            var round = 0
            let comparison = try await BaselineComparison(
                rounds: run.options.rounds, count: run.messages, warmUp: nil
            ) {
                try machineRate($0, sessionCount)
            } value: {
                round += 1
                return try await coordinatorRate($0, sessionCount, name: "\(sessionCount)-\(round)")
            }
            results.append(
                run.result(
                    comparison, part: "\(sessionCount)", unit: "inputs/s",
                    baseline: "the machine alone: the same inputs read, handled, and their states written",
                    processes: 2, settings: ["sessions": .count(sessionCount)]))
        }
        return results
    }

    /// The inputs. The first input of each session launches the session, and each later input selects the other tab.
    private func inputs(_ count: Int, _ sessionCount: Int) throws -> [Envelope] {
        try (0..<count).map { index in
            let session = "session-\(index % sessionCount)"
            return try index < sessionCount ? app.launch(of: session) : app.tap(in: session)
        }
    }

    /// The number of inputs per second that the machine handles without a bus.
    private func machineRate(_ count: Int, _ sessionCount: Int) throws -> Double {
        let inputs = try inputs(count, sessionCount)
        var machines: [String: Machine] = [:]
        let begin = ContinuousClock.now
        for message in inputs {
            var machine = machines[message.subject] ?? Machine(flow: app.flow, session: message.subject)
            try app.handle(message, with: &machine)
            _ = try app.document(of: machine, causedBy: message)
            machines[message.subject] = machine
        }
        return Double(count) / ((.now - begin) / .seconds(1))
    }

    /// The number of inputs per second that a coordinator handles, from the time at which it is ready.
    private func coordinatorRate(_ count: Int, _ sessionCount: Int, name: String) async throws -> Double {
        let broker = try BusProcess(scratch, kind: run.options.bus, durability: run.options.durability, name: name)
        let flow = "\(broker.directory)/flow.yaml"
        try TabApp.yaml.write(toFile: flow, atomically: true, encoding: .utf8)
        let coordinator = ReadyProcess(
            name: "navigation-coordinator", arguments: ["--bus", broker.address, "--flow", flow],
            directory: broker.directory)
        let inputs = try inputs(count, sessionCount)
        return try await broker.run { _ in
            let bus = try BusFactory.standard.bus(
                at: broker.address, source: "benchmark/1",
                logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
            return try await bus.whileOpen {
                for start in stride(from: 0, to: count, by: Self.batchCount) {
                    try await bus.publish(Batch(Array(inputs[start..<min(start + Self.batchCount, count)])))
                }
                return try await bus.withSubscription(to: [.type(Document.NavigationState.self)], from: .now) {
                    documents in
                    try await coordinator.run { _ in
                        let begin = ContinuousClock.now
                        try await wait(for: inputs.suffix(sessionCount), documents)
                        return Double(count) / ((.now - begin) / .seconds(1))
                    }
                }
            }
        }
    }

    /// Waits until each of the inputs is answered by a document. The coordinator's own record of its progress can be a
    /// second late.
    private func wait(for inputs: ArraySlice<Envelope>, _ documents: MessageSequence) async throws {
        var open = Set(inputs.map(\.id))
        for try await document in documents {
            if let cause = document.attributes.causationID { open.remove(cause) }
            if open.isEmpty { return }
        }
    }
}
