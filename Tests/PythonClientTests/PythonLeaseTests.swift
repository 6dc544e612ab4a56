import TestSupport
import Testing

@Suite("Leased documents of the fast client in Python", .needsPython)
struct PythonLeaseTests {
    @Test(
        "The documents of the last recorded batches are published again, in any order of the answers",
        .timeLimit(.minutes(1)))
    func kept() async throws {
        let script = """
            from segue_leases import Leases
            from segue_wire import Message

            def packed(key, number):
                return Message("document.Level", number, key=key).published("test")

            a, b, c = packed("a", 1), packed("b", 1), packed("c", 1)
            leases = Leases()
            assert leases.begin([a], False) is None
            leases.end(leases.begin([a, b, Message("event.Counted", 1).published("test")], True), True)
            assert leases.count == 2 and leases.missing(2, 2) == []
            leases.end(leases.begin([packed("a", 2)], True), False)  # Refused.
            assert leases.missing(0, 1) == [[a, b]] and leases.missing(0, 1) == []  # Not twice within a lease.
            early, late = leases.begin([c], True), leases.begin([packed("c", None)], True)
            leases.end(late, True)
            leases.end(early, True)
            assert leases.count == 2
            change = leases.begin([packed("b", 2)], False)
            leases.doubt()
            assert leases.missing(2, 2) == [[a]]
            leases.end(change, True)  # It is a document as any other now.
            leases.doubt()
            assert leases.missing(1, 1) == [[a]] and leases.count == 1
            print("kept", flush=True)
            """
        try await PythonClient(bus: "ipc:///nowhere").running(script: script) { try await $0.waitUntilLine("kept") }
    }
}
