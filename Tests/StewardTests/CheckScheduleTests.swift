import Testing

@testable import Steward

@Suite("Schedule of comparisons of the servers") struct CheckScheduleTests {
    private let start = ContinuousClock.now
    private let checked = ["n1": "A", "n2": "B", "n3": "C"]

    /// The first second after a check at which the servers should be compared.
    private func due(
        afterCheckOf checked: [String: String], taking duration: Duration = .seconds(1),
        _ present: (Int) -> [String: String]
    ) -> Int? {
        var schedule = CheckSchedule(afterCheckOf: checked, from: start - duration, to: start)
        return (1...1000).first { schedule.isDue(present($0), at: start + .seconds($0)) }
    }

    @Test func `The servers are compared after 10 minutes if no server has returned`() {
        #expect(due(afterCheckOf: checked) { _ in checked } == 600)
        #expect(due(afterCheckOf: checked) { _ in ["n1": "A", "n2": "B"] } == 600)
    }

    @Test func `The servers are compared when one was restarted and can be read`() {
        #expect(due(afterCheckOf: checked) { ["n1": "A", "n2": $0 < 7 ? "B" : "D", "n3": "C"] } == 7)
        #expect(due(afterCheckOf: checked) { $0 < 9 ? ["n1": "A", "n3": "C"] : ["n1": "A", "n2": "D"] } == 9)
        #expect(due(afterCheckOf: ["": "A"]) { $0 < 5 ? ["": "A"] : ["": "B"] } == 5)
    }

    @Test func `The servers are compared when one could not be read for a time, even without a restart`() {
        #expect(due(afterCheckOf: checked) { (5..<8).contains($0) ? ["n1": "A", "n2": "B"] : checked } == 8)
    }

    @Test func `The servers are compared when they are idle, if the former check did not read all of them`() {
        #expect(due(afterCheckOf: ["n1": "A"], taking: .seconds(10)) { _ in checked } == 20)
        #expect(due(afterCheckOf: ["n1": "A"], taking: .seconds(400)) { _ in checked } == 800)
        #expect(due(afterCheckOf: checked, taking: .seconds(400)) { _ in checked } == 800)
    }

    @Test func `A server with an unknown run causes no comparison, and one whose run is known late does`() {
        let unknown = ["n1": "", "n2": ""]
        #expect(due(afterCheckOf: unknown) { _ in unknown } == 600)
        #expect(due(afterCheckOf: ["n1": "A", "n2": "B"]) { _ in unknown } == 600)
        #expect(due(afterCheckOf: unknown) { ["n1": "", "n2": $0 < 8 ? "" : "B"] } == 8)
    }
}
