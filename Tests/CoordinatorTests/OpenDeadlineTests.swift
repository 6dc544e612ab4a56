import Contracts
import EventBus
import Testing

@testable import Coordinator

@Suite("The open deadlines of a coordinator that takes partitions")
struct OpenDeadlineTests {
    private let open = OpenDeadlines()
    private let partitions: Set = [Partition(subject: "anna")]

    private func deadline(_ id: String, of session: String = "anna") throws -> Deadline {
        let object = Document.Deadline(platform: "ios", object: .screen, id: id, delay: 2000)
        return try Deadline(Envelope(object, source: "test/1", subject: session))
    }

    private var ids: Set<String> { Set(open.objects(of: "anna").map(\.id)) }

    @Test("are those that are recorded for its partitions")
    func taken() async throws {
        open.open([try deadline("sheet-1"), try deadline("sheet-2", of: "bert")])
        try await open.take(partitions) { [try deadline("sheet-1"), try deadline("sheet-3")] }
        #expect(ids == ["sheet-1", "sheet-3"])
        #expect(open.objects(of: "bert").isEmpty)
    }

    @Test("are without those that were withdrawn by a batch whose reply was lost")
    func withdrawn() async throws {
        open.open([try deadline("sheet-1")])
        try await open.take(partitions) { [] }
        #expect(ids.isEmpty)
    }

    @Test("are without those that close while the recorded ones are read, and with those that open")
    func meanwhile() async throws {
        let (first, second) = (try deadline("sheet-1"), try deadline("sheet-2"))
        open.open([first])
        try await open.take(partitions) {
            open.close([first.object])
            open.open([second])
            return [first]
        }
        #expect(ids == ["sheet-2"])
        try await open.take(partitions) { [first, second] }
        #expect(ids == ["sheet-1", "sheet-2"], "only what was closed during this reading stays closed")
    }
}
