import Glibc
import Testing

@testable import BusSoak

@Suite("Processes of a soak round")
struct CrewTests {
    @Test(
        "A consumer that was stopped before its first claim displaces its successor, and the round continues",
        .timeLimit(.minutes(3)))
    func lateFirstClaim() async throws {
        try await Arena.with { arena in
            let crew = Crew(arena: arena)
            // There is no broker yet, so the first incarnation is stopped before its first claim.
            try await crew.start(.consumer)
            try await crew.perform(Step(at: 0, member: .consumer, action: .takeOver))
            try await crew.start(.broker)
            try await crew.start(.publisher(1))
            try await arena.until("the successor handles messages") { $0["consumer.2"]?.handled ?? 0 > 0 }

            try await crew.perform(Step(at: 0, member: .consumer, action: .release))
            try await crew.settle()
            #expect(
                arena.log(of: "consumer.2").contains("another process has taken over the durable consumer 'exclusive'"))
            try await arena.until("the first one handles messages") { $0["consumer.1"]?.handled ?? 0 > 0 }

            try await crew.end([.publisher(1)])
            try await crew.end([.consumer])
            #expect(await crew.surprises == [])
        }
    }

    @Test("A consumer that claimed before it was stopped is fenced when it continues", .timeLimit(.minutes(3)))
    func lateContinuation() async throws {
        try await Arena.with { arena in
            let crew = Crew(arena: arena)
            try await crew.start(.broker)
            try await crew.start(.consumer)
            try await crew.start(.publisher(1))
            try await arena.until("the first one handles messages") { $0["consumer.1"]?.handled ?? 0 > 0 }
            try await crew.perform(Step(at: 0, member: .consumer, action: .takeOver))
            try await arena.until("the successor handles messages") { $0["consumer.2"]?.handled ?? 0 > 0 }

            try await crew.perform(Step(at: 0, member: .consumer, action: .release))
            try await crew.settle()
            #expect(
                arena.log(of: "consumer.1").contains("another process has taken over the durable consumer 'exclusive'"))

            try await crew.end([.publisher(1)])
            try await crew.end([.consumer])
            #expect(await crew.surprises == [])
        }
    }
}
