/// Two sides, measured in turns: a machine's speed can drift two-fold between minutes, so only figures that were taken beside
/// each other compare.
struct Comparison<Sample: Sendable>: Sendable {
    private(set) var values: [Sample] = []
    private(set) var baselines: [Sample] = []

    /// - Parameters:
    ///   - warmUp: the count of a round before all others that is thrown away; nil for none.
    ///   - count: given to each measurement.
    init(
        rounds: Int, count: Int, warmUp: Int?, baseline: (_ count: Int) async throws -> Sample,
        value: (_ count: Int) async throws -> Sample
    ) async throws {
        if let warmUp {
            _ = try await baseline(warmUp)
            _ = try await value(warmUp)
        }
        for _ in 0..<rounds {
            try Task.checkCancellation()
            baselines.append(try await baseline(count))
            values.append(try await value(count))
        }
    }

    private init(values: [Sample], baselines: [Sample]) {
        self.values = values
        self.baselines = baselines
    }

    func map<Part>(_ part: (Sample) -> Part) -> Comparison<Part> {
        Comparison<Part>(values: values.map(part), baselines: baselines.map(part))
    }
}
