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
        #expect(numbers(turn, of: "b") == [1])
        #expect(numbers(turn) == Array(0..<15))
    }

    @Test("Reads and large requests make a turn short")
    func cost() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for number in 0..<10 { _ = turns.add(read(number)) }
        for number in 0..<10 { _ = turns.add(request(number, of: "b", size: 4 << 20)) }
        for _ in 0..<4 { #expect(turns.next().requests.count == 1) }
    }

    @Test("What is too much of one user is refused, and nothing of others")
    func bounds() {
        var limits = UserLimits()
        (limits.waitingReads, limits.waitingSize) = (2, 1000)
        var turns = RequestTurns(limits, hasKeys: true)
        let reads = (0..<5).map { turns.add(read($0)) }
        #expect(reads == [true, true, false, false, false])
        let own = [turns.add(request(9, size: 400)), turns.add(request(10, size: 800))]
        #expect(own == [true, false])
        // One request is never too large.
        let others = [turns.add(request(11, of: "b", size: 2000)), turns.add(read(12, of: "b"))]
        #expect(others == [true, false])
        var all: [Incoming] = []
        while !turns.isEmpty { all += turns.next().requests }
        #expect(all.filter { $0.user == "a" }.compactMap { try? Int($0.head().id) } == [0, 1, 9])
        #expect(all.filter { $0.user == "b" }.compactMap { try? Int($0.head().id) } == [11])
    }

    @Test("Every user comes in turn, also if there are more than a turn has requests")
    func many() {
        var turns = RequestTurns(UserLimits(), hasKeys: true)
        for user in 0..<200 { for number in 0..<3 { _ = turns.add(request(number, of: "u\(user)")) } }
        var first: Set<String> = []
        for _ in 0..<13 { first.formUnion(turns.next().requests.compactMap(\.user)) }
        #expect(first.count == 200)
    }
}
