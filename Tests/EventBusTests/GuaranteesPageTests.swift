import BusConformance
import TestSupport
import Testing

@Suite("docs/guarantees.md")
struct GuaranteesPageTests {
    @Test("The page lists what each engine of the bus guarantees: the names of the cases that all engines pass")
    func page() throws {
        let sections = ConformanceCase.Group.all.map { group in
            let lines = group.cases.map { "- \($0.name)." + ($0.onNATS.map { " *On NATS: \($0).*" } ?? "") }
            return "\n## \(group.title)\n\nFor \(group.kinds).\n\n\(lines.joined(separator: "\n"))\n"
        }
        let introduction = """
            # What the bus guarantees

            `make pages` writes this page. Each line is a test that the bus passes on ZeroMQ, on ZeroMQ with keys, and on NATS,
            with the same result; a line says where the guarantee is weaker on NATS. [The bus](bus.md) describes how it is
            used, and [Faults](faults.md) what happens when something fails.

            """
        let page = GeneratedPage("docs/guarantees.md", introduction + sections.joined())
        #expect(try page.isWritten(), "'make pages' writes it anew")
    }

    @Test("No two guarantees are the same, and each group has some")
    func names() {
        let names = ConformanceCase.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(ConformanceCase.Group.all.allSatisfy { !$0.cases.isEmpty })
    }
}
