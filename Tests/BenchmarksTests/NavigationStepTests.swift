import Navigation
import Testing

@testable import Benchmarks

@Suite("The benchmark of navigation")
struct NavigationStepTests {
    @Test("The machine and the switch written by hand have the same states and effects in the whole story")
    func equal() throws {
        let machine = Log()
        let hand = Log()
        var flow = PlayerStory(Machine(flow: try PlayerFlow.flow())) { machine.effects.append($0) }
        var player = PlayerStory(HandWrittenPlayer()) { hand.effects.append($0) }
        for _ in 0..<2 {
            flow.tell()
            player.tell()
            #expect(player.navigation.state == flow.navigation.state)
        }
        #expect(hand.effects == machine.effects)
        #expect(flow.count == player.count && flow.count > 40)
        #expect(!machine.effects.joined().contains { if case .messageDiscarded = $0 { true } else { false } })
    }

    @Test("The time for one message is measured")
    func measured() async throws {
        let options = BenchmarkOptions(rounds: 1, messages: 200, durability: .process, bus: .broker())
        let results = try await NavigationSteps(run: BenchmarkRun(benchmark: .navigation, options: options)).measure()
        #expect(results.map(\.name) == ["navigation"])
        #expect(results.allSatisfy { $0.value > 0 && $0.baselineValue > 0 })
    }

    private final class Log {
        var effects: [[Machine.Effect]] = []
    }
}
