import Testing

@testable import Compose

@Suite("Health, without processes")
struct HealthStateTests {
    private static let probe = HealthProbe(
        command: ["true"], interval: .seconds(30), retries: 3, startPeriod: .seconds(10), startInterval: .seconds(1))

    @Test("A service is starting until its first check succeeds")
    func starting() {
        var state = HealthState(probe: Self.probe)
        #expect(state.health == ServiceHealth(state: .starting, failures: 0, reason: nil))
        state.take(nil, at: .seconds(1))
        #expect(state.health.state == .healthy)
    }

    @Test("Failures in the start period do not count, but the last one's reason shows")
    func startPeriod() {
        var state = HealthState(probe: Self.probe)
        for age in 0..<10 { state.take("no answer", at: .seconds(age)) }
        #expect(state.health == ServiceHealth(state: .starting, failures: 0, reason: "no answer"))
        for age in 10..<12 { state.take("no answer", at: .seconds(age)) }
        #expect(state.health.state == .starting)
        state.take("no answer at all", at: .seconds(12))
        #expect(state.health == ServiceHealth(state: .unhealthy, failures: 3, reason: "no answer at all"))
    }

    @Test("The first success ends the start period: from then on failures count")
    func successWithinStartPeriod() {
        var state = HealthState(probe: Self.probe)
        state.take(nil, at: .seconds(1))
        for age in 2..<5 { state.take("gone", at: .seconds(age)) }
        #expect(state.health.state == .unhealthy)
    }

    @Test("A success between them means that failures are not in a row, and makes healthy again")
    func recovery() {
        var state = HealthState(probe: Self.probe)
        for failure in ["a", "b", nil, "c", "d"] { state.take(failure, at: .seconds(60)) }
        #expect(state.health == ServiceHealth(state: .healthy, failures: 2, reason: "d"))
        state.take("e", at: .seconds(60))
        #expect(state.health.state == .unhealthy)
        state.take(nil, at: .seconds(60))
        #expect(state.health == ServiceHealth(state: .healthy, failures: 0, reason: nil))
    }

    @Test("Checks follow each other faster while the service starts")
    func pauses() {
        var state = HealthState(probe: Self.probe)
        #expect(state.pause(at: .seconds(9)) == .seconds(1))
        #expect(state.pause(at: .seconds(10)) == .seconds(30))
        state.take(nil, at: .seconds(1))
        #expect(state.pause(at: .seconds(2)) == .seconds(30))
    }

    @Test("Never fewer than one failure makes unhealthy", arguments: [-1, 0, 1])
    func retries(count: Int) {
        var probe = Self.probe
        probe.retries = count
        var state = HealthState(probe: probe)
        state.take("no", at: .seconds(11))
        #expect(state.health.state == .unhealthy)
    }
}
