import Foundation
import Navigation
import Testing

@Suite("Explorations and spin find the same")
struct SpinTests {
    @Test("In flows that are written by hand", arguments: SpinFlow.all)
    func chosen(_ flow: SpinFlow) async throws {
        let check = try #require(try await SpinCheck(flow.flow()))
        #expect(check.differences == [], "\(check.report)")
    }

    /// Two flows, unless `SPIN_FLOWS` is a number of flows. The first one has the number `SPIN_SEED`.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["SPIN_SEED"].flatMap { UInt64($0) } ?? 1
        return first..<first + (environment["SPIN_FLOWS"].flatMap { UInt64($0) } ?? 2)
    }()

    @Test("In flows that are written by chance", arguments: SpinTests.seeds)
    func random(seed: UInt64) async throws {
        var random = RandomFlow(seed: seed)
        while true {
            // Smaller flows show little, and in larger ones the rules are mostly the same as in others.
            guard let check = try await SpinCheck(try random.next(), in: 10...1000) else { continue }
            #expect(check.differences == [], "SPIN_SEED=\(seed) SPIN_FLOWS=1 repeats this.\n\(check.report)")
            return
        }
    }
}
