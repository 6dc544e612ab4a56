import Onboarding
import Testing

@Suite("Draft of an onboarding")
struct DraftTests {
    private func draft(_ answers: Draft.Answer...) throws -> Draft {
        try answers.reduce(Draft()) { try $0.answered($1) }
    }

    @Test("An answer is stored without surrounding spaces")
    func kept() throws {
        let draft = try draft(.name("  Ann   Lee "), .age("35"), .plan("team"), .team("Night shift"))
        #expect(draft.name == "Ann Lee")
        #expect(draft.age == 35)
        #expect(draft.plan == .team)
        #expect(draft.team == "Night shift")
    }

    @Test(
        "An invalid answer is refused with a reason, and changes nothing",
        arguments: [
            (Draft.Answer.name(" "), "Your name is missing."),
            (.name(String(repeating: "a", count: 51)), "Your name is too long; 50 letters are enough."),
            (.age("five"), "Your age must be a whole number."), (.age("12"), "You must be 13 or older."),
            (.age("-1"), "Nobody is -1 years old."), (.age("151"), "Nobody is 151 years old."),
            (.plan("gold"), "Choose a plan: solo or team."), (.team("Night shift"), "Only the team plan has a team."),
        ])
    func refused(answer: Draft.Answer, problem: String) {
        let error = #expect(throws: Draft.Problem.self) { try Draft().answered(answer) }
        #expect(error?.message == problem)
    }

    @Test("A draft is complete with three answers, or with four in a team, in any order")
    func complete() throws {
        #expect(try draft(.plan("solo"), .age("13"), .name("Ann")).isComplete)
        #expect(try !draft(.plan("solo"), .age("150")).isComplete)
        #expect(try !draft(.name("Ann"), .age("13"), .plan("team")).isComplete)
        #expect(try draft(.name("Ann"), .age("13"), .plan("team"), .team("A")).isComplete)
    }

    @Test("A user who goes back and leaves the team removes its name")
    func back() throws {
        let draft = try draft(.plan("team"), .team("Night shift"), .plan("solo"))
        #expect(draft.team == nil)
        #expect(try draft.answered(.plan("team")).team == nil)
    }
}
