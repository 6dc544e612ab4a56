import Testing

@testable import Broker

@Suite("The broker's clock")
struct BrokerClockTests {
    @Test("the journal's time goes on evenly, whatever becomes of the wall clock")
    func evenly() {
        let start = ContinuousClock.now
        // A wall clock that was right at the start, and has nothing to say since.
        let clock = BrokerClock(start: start, wall: 1_000_000)
        #expect(clock.time(at: start) == 1_000_000)
        #expect(clock.time(at: start + .seconds(90)) == 1_090_000)
        #expect(clock.time(at: start - .milliseconds(1)) == 999_999)
    }
}
