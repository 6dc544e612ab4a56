import BusProtocol
import Testing

@testable import Broker

@Suite("The turns of the users' requests")
struct RequestTurnsTests {
    private func request(_ number: Int, of user: String? = "a", size: Int = 1) -> Incoming {
        let head = RequestHead(operation: .publish, id: UInt64(number)).bytes
        return Incoming(peer: [1], frames: [head, [UInt8](repeating: 0, count: size)], user: user)
    }

    private func read(_ number: Int, of user: String = "a") -> Incoming {
        let request = Request.read(PageRequest(epoch: 0, after: 0, prefixes: ["event."]))
        return Incoming(peer: [1], frames: request.frames(id: UInt64(number)), user: user)
    }

    private func numbers(_ turn: RequestTurns.Turn, of user: String? = "a") -> [Int] {
        turn.requests.filter { $0.user == user }.compactMap { try? Int($0.head().id) }
    }

    @Test("One user gets whole turns, in the order of its requests")
    func alone() {
        var turns = RequestTurns(UserLimits(), hasKeys: false)
        for number in 0..<700 { _ = turns.add(request(number, of: nil)) }
        #expect(turns.isFull)
        let first = turns.next()
        #expect(!first.isShared)
        #expect(numbers(first, of: nil) == Array(0..<512))
        #expect(!turns.isFull && !turns.isEmpty)
        #expect(numbers(turns.next(), of: nil) == Array(512..<700))
        #expect(turns.isEmpty)
        #expect(turns.next().requests.isEmpty)
    }

    @Test("A request does not wait for those of another user that came before")
    func fairness() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for number in 0..<1000 { _ = turns.add(request(number)) }
        _ = turns.add(request(1, of: "b"))
        let turn = turns.next()
        #expect(turn.isShared)
        #expect(turn.requests.count == 16)
        #expect(turns.next().requests.contains { $0.user == "b" } || numbers(turn, of: "b") == [1])
    }

    @Test("Users with cheap and with expensive requests get the same share of the work")
    func cost() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for number in 0..<8 { _ = turns.add(request(number, size: 4 << 20)) }
        for number in 0..<1000 { _ = turns.add(request(number, of: "b", size: 10_000)) }
        for number in 0..<100 { _ = turns.add(read(number, of: "c")) }
        var costs: [String: Int] = [:]
        var longest = 0
        for _ in 0..<60 {
            let turn = turns.next()
            longest = max(longest, turn.requests.count)
            for request in turn.requests { costs[request.user ?? "", default: 0] += RequestTurns.Waiting(request).cost }
        }
        #expect(longest <= 16)
        let (a, b, c) = (costs["a", default: 0], costs["b", default: 0], costs["c", default: 0])
        // A request of `a` has 4 MiB.
        #expect(abs(a - b) <= 5 << 20 && abs(b - c) <= 1 << 20, "\(a), \(b), \(c)")
        #expect(min(a, b, c) >= 4 << 20)
    }

    @Test("A user in debt is served while nobody else can be")
    func debt() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for user in ["a", "b"] { for number in 0..<5 { _ = turns.add(request(number, of: user, size: 8 << 20)) } }
        var count = 0
        for _ in 0..<10 { count += turns.next().requests.count }
        #expect(count == 10)
    }

    @Test("What is too much of one user is refused, and nothing of others")
    func bounds() {
        var limits = UserLimits()
        (limits.waitingReads, limits.waitingSize) = (2, 4000)
        var turns = RequestTurns(limits, hasKeys: true)
        let reads = (0..<4).map { turns.add(read($0)) }
        #expect(reads == [.added, .added, .dropped, .dropped])
        let batches = (4..<7).map { turns.add(request($0, size: 1500)) }
        #expect(batches == [.added, .overflown, .dropped])
        // What has waited from this peer is gone, and what it still sends, too.
        #expect(turns.isEmpty)
        turns.forgetOverflown()
        // One request is never too large.
        let others = [turns.add(request(8, size: 9000)), turns.add(request(9, of: "b", size: 9000))]
        #expect(others == [.added, .added])
    }

    @Test("Requests without content have a size, too")
    func empty() {
        let empty = Incoming(peer: [1], frames: [])
        let frames = Incoming(peer: [1], frames: Array(repeating: [], count: 1000))
        #expect(RequestTurns.Waiting(empty).size > 100 && RequestTurns.Waiting(frames).size > 60_000)
    }

    @Test("Every user comes in turn, also if there are more than a turn has requests")
    func many() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for user in 0..<200 { for number in 0..<3 { _ = turns.add(request(number, of: "u\(user)")) } }
        var first: Set<String> = []
        for _ in 0..<38 { first.formUnion(turns.next().requests.compactMap(\.user)) }
        #expect(first.count == 200)
    }
}
