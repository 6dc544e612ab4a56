import NATS
import Testing

@Suite("Waits for the servers")
struct WaitsTests {
    private let start = ContinuousClock.now

    private func reports(_ waits: Waits, at seconds: Int) -> [String] {
        waits.reports(at: start + .seconds(seconds), after: .seconds(10))
    }

    @Test func `An operation that waits for too long is reported once, and again when it continues`() {
        let waits = Waits()
        var (first, second) = (waits.operation(), waits.operation())
        first.recordFailure("no reply", at: start)
        second.recordFailure("no reply", at: start + .seconds(2))
        #expect(reports(waits, at: 9).isEmpty)
        #expect(
            reports(waits, at: 13) == ["2 operations of the bus have waited for 13 s: no reply"])
        #expect(reports(waits, at: 14).isEmpty)
        first.end()
        #expect(reports(waits, at: 15).isEmpty)
        second.end()
        #expect(reports(waits, at: 16) == ["no operation of the bus waits any more"])
        #expect(reports(waits, at: 17).isEmpty)
    }

    @Test func `An operation that succeeds meanwhile starts its waiting time again`() {
        let waits = Waits()
        var operation = waits.operation()
        operation.recordFailure("no reply", at: start)
        operation.end()
        operation.recordFailure("no leader", at: start + .seconds(8))
        #expect(reports(waits, at: 12).isEmpty)
        #expect(reports(waits, at: 18) == ["an operation of the bus has waited for 10 s: no leader"])
    }
}
