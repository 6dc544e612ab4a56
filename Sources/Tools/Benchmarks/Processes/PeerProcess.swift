internal import Subprocess
internal import Synchronization

/// A running peer, in the benchmark that started it.
final class PeerProcess: Sendable {
    private struct State {
        /// The callers that wait for a report, in the order in which the reports will arrive.
        var waiting: [CheckedContinuation<Report, any Error>] = []
        /// The first report, which is not an answer to an order, if it has arrived before a caller waits for it. Nil
        /// otherwise.
        var unclaimed: Report?
        var isFinishing = false
        var hasEnded = false
    }

    private let role: PeerRole
    private let arguments: [String]
    private let keyFile: String?
    private let state = Mutex(State())
    private let orders: AsyncStream<String>
    private let orderWriter: AsyncStream<String>.Continuation

    /// - Parameter keyFile: The key file of the process. Nil for a bus without keys.
    init(
        _ role: PeerRole, _ address: String, connections: Int = 1, durability: BenchmarkDurability = .process,
        keyFile: String? = nil
    ) {
        self.role = role
        self.keyFile = keyFile
        arguments = [
            "peer", role.rawValue, address, "--connections", "\(connections)", "--durability",
            durability.rawValue,
        ]
        (orders, orderWriter) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(16))
    }

    /// Runs peers while `body` runs. All peers are ready before `body` starts, and have ended when this method returns
    /// or throws.
    static func run<Result: Sendable>(
        _ peers: [PeerProcess], _ body: () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in peers {
                group.addTask { try await peer.run() }
            }
            do {
                for peer in peers { _ = try await peer.report(to: nil) }
                let result = try await body()
                for peer in peers { peer.finish() }
                try await group.waitForAll()
                return result
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }

    @discardableResult
    func perform(_ order: PeerOrder) async throws -> Report {
        try await report(to: ControlLine.encode(order))
    }

    private func run() async throws {
        defer { end() }
        let configuration = Executables.configuration(
            try Executables.peer, arguments, environment: .inherit.updating(["SEGUE_BUS_CURVE": keyFile]))
        _ = try await Subprocess.run(
            configuration, input: .inputWriter, output: .sequence, error: .currentStandardError
        ) { execution in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.writeOrders(to: execution.standardInputWriter) }
                for try await line in execution.standardOutput.strings() {
                    receive(try ControlLine.decode(line))
                }
                group.cancelAll()
            }
        }
        guard state.withLock(\.isFinishing) else { throw ended }
    }

    /// Writes the orders to the peer's standard input. Errors of writing are ignored.
    private func writeOrders(to writer: StandardInputWriter) async {
        for await order in orders {
            _ = try? await writer.write(order)
        }
        try? await writer.finish()
    }

    private func receive(_ report: Report) {
        let waiting = state.withLock { state in
            guard state.waiting.isEmpty else { return Optional(state.waiting.removeFirst()) }
            state.unclaimed = report
            return nil
        }
        waiting?.resume(returning: report)
    }

    /// Sends an order, and waits for the report.
    /// - Parameter order: The order. Nil to wait only for the first report.
    private func report(to order: String?) async throws -> Report {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Report, any Error>? = state.withLock { state in
                if let report = state.unclaimed {
                    state.unclaimed = nil
                    return .success(report)
                }
                if state.hasEnded { return .failure(ended) }
                state.waiting.append(continuation)
                return nil
            }
            if let result { return continuation.resume(with: result) }
            // The order is sent after the continuation has been stored, so that the report finds the continuation.
            if let order { orderWriter.yield(order) }
        }
    }

    /// Closes the peer's standard input, which ends it.
    private func finish() {
        state.withLock { $0.isFinishing = true }
        orderWriter.finish()
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume(throwing: ended) }
    }

    private var ended: BenchmarkError { BenchmarkError("the process '\(role.rawValue)' ended before the benchmark") }

    /// Orders a subscriber to read `count` messages from the journal's beginning.
    /// - Parameter readsAttributes: See ``PeerOrder/readsAttributes``.
    func catchUp(_ count: Int, readsAttributes: Bool = true) async throws -> Delivery {
        var prepare = PeerOrder.prepare(count, isFromBeginning: true)
        prepare.readsAttributes = readsAttributes
        try await perform(prepare)
        return Delivery(try await perform(.run(count)), expected: count)
    }
}
