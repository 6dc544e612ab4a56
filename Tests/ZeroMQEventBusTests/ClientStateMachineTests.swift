import BusProtocol
import EventBus
import Testing

@testable import ZeroMQEventBus

@Suite("The protocol of the client")
struct ClientStateMachineTests {
    @Test(
        "whatever the connections lose, nothing is missing, nothing comes twice, and each request has an outcome",
        .timeLimit(.minutes(2)), arguments: 0..<15 as Range<UInt64>)
    func restarts(seed: UInt64) {
        run(ClientHistory(seed: seed, .restarts))
    }

    @Test(
        "whenever the broker begins a new journal, all that it holds is delivered once", .timeLimit(.minutes(2)),
        arguments: 0..<15 as Range<UInt64>)
    func newJournals(seed: UInt64) {
        run(ClientHistory(seed: seed, .newJournals))
    }

    @Test(
        "whenever the journal loses its end, or forgets the client, each request has an outcome and nothing is missing",
        .timeLimit(.minutes(2)), arguments: 0..<15 as Range<UInt64>)
    func lostEnds(seed: UInt64) {
        run(ClientHistory(seed: seed, .lostEnds))
    }

    private func run(_ history: ClientHistory) {
        var history = history
        for _ in 1...1500 { history.step() }
        history.finish()
    }
}
