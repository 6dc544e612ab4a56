import NATS
import Testing

@Suite("Operations that wait for the servers")
struct WaitsTests {
    @Test func `An operation that waits for more than two leases is reported once, and when it goes on`() {
        let (waits, start) = (Waits(), ContinuousClock.now)
        var (first, second) = (waits.operation(), waits.operation())
        first.note("no reply", at: start)
        second.note("no reply", at: start + .seconds(2))
        #expect(waits.reports(at: start + .seconds(9)).isEmpty)
        #expect(
            waits.reports(at: start + .seconds(13)) == ["2 operations of the bus have waited for 13 s: no reply"])
        #expect(waits.reports(at: start + .seconds(14)).isEmpty)
        first.end()
        #expect(waits.reports(at: start + .seconds(15)).isEmpty)
        second.end()
        #expect(waits.reports(at: start + .seconds(16)) == ["no operation of the bus waits any more"])
        #expect(waits.reports(at: start + .seconds(17)).isEmpty)
    }

    @Test func `An operation that succeeds in between begins to wait again`() {
        let (waits, start) = (Waits(), ContinuousClock.now)
        var operation = waits.operation()
        operation.note("no reply", at: start)
        operation.end()
        operation.note("no leader", at: start + .seconds(8))
        #expect(waits.reports(at: start + .seconds(12)).isEmpty)
        #expect(waits.reports(at: start + .seconds(18)) == ["an operation of the bus has waited for 10 s: no leader"])
    }
}
