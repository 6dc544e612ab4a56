import NATS
import Testing

@testable import Steward

@Suite struct LaggingServersTests {
    private let start = ContinuousClock.now

    private func follower(_ name: String, lag: Int, isActive: Bool = true) -> StreamInfo.Follower {
        StreamInfo.Follower(name: name, isActive: isActive, isCurrent: lag == 0, lag: lag)
    }

    @Test func `A server that does not catch up is reported once, after a minute`() {
        var servers = LaggingServers()
        let named = (0...150).map { second in
            servers.late(
                among: [follower("n1", lag: 5), follower("n2", lag: 0)], end: 100, at: start + .seconds(second))
        }
        #expect(named.enumerated().filter { !$0.element.isEmpty }.map(\.offset) == [60])
        #expect(named[60] == ["n1"])
    }

    @Test func `A server that catches up, is current again or is away is not reported`() {
        var servers = LaggingServers()
        for second in 0...200 {
            let followers = [
                follower("n1", lag: 1000 - second), follower("n2", lag: second % 50),
                follower("n3", lag: 7, isActive: false),
            ]
            #expect(servers.late(among: followers, end: 5000, at: start + .seconds(second)) == [])
        }
    }

    @Test
    func `A server that stays slightly behind during publishing is not reported, and a stuck one is`() {
        var servers = LaggingServers()
        let named = (0...150).map { second in
            servers.late(
                among: [follower("n1", lag: 3 + second % 7), follower("n2", lag: 5 + 10 * second)],
                end: 1000 + 100 * second, at: start + .seconds(second))
        }
        #expect(named.flatMap(\.self) == ["n2"])
    }

    @Test func `A server is not reported after a few checks with long pauses`() {
        var servers = LaggingServers()
        for time in [0, 5, 70, 75] {
            #expect(servers.late(among: [follower("n1", lag: 5)], end: 100, at: start + .seconds(time)) == [])
        }
    }
}
