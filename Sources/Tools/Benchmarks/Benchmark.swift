/// What can be measured. Each is compared with the least that its work costs without this bus.
package enum Benchmark: String, CaseIterable, Sendable {
    case roundTrip = "roundtrip"
    case publishJournalled = "publish.journalled"
    case publishPlain = "publish.plain"
    case catchUp = "catchup"
    case fanOut = "fanout"
    case coordinator
    case monitor
    case start

    /// Messages of one round, unless said.
    var messages: Int {
        switch self {
        case .roundTrip: 3000
        case .publishJournalled, .publishPlain: 100_000
        case .catchUp, .monitor: 200_000
        case .fanOut: 2000
        case .coordinator: 20_000
        case .start: 10_000_000
        }
    }

    /// Measures. All processes and files that it needs are its own, and gone when this returns or throws.
    /// - Throws: ``BenchmarkError``; `CancellationError`.
    package func run(_ options: BenchmarkOptions) async throws -> [BenchmarkResult] {
        let run = BenchmarkRun(benchmark: self, options: options)
        return try await Scratch.with { scratch in
            switch self {
            case .roundTrip: try await RoundTrip(run: run, scratch: scratch).measure()
            case .publishJournalled: try await PublishJournalled(run: run, scratch: scratch).measure()
            case .publishPlain: try await PublishPlain(run: run, scratch: scratch).measure()
            case .catchUp: try await CatchUp(run: run, scratch: scratch).measure()
            case .fanOut: try await FanOut(run: run, scratch: scratch).measure()
            case .coordinator: try await CoordinatorBacklog(run: run, scratch: scratch).measure()
            case .monitor: try await MonitorToFile(run: run, scratch: scratch).measure()
            case .start: try await Start(run: run, scratch: scratch).measure()
            }
        }
    }
}
