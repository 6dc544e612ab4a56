internal import Support

/// The answers of a new user so far, and the rules for the answers.
///
/// The user can answer the questions in any order, except that the team comes after the plan.
package struct Draft: Codable, Hashable, Sendable {
    /// Nil until the user has answered.
    package private(set) var name: String?
    /// In years. Nil until the user has answered.
    package private(set) var age: Int?
    /// Nil until the user has answered.
    package private(set) var plan: Plan?
    /// The name of the team. Nil if the plan is not `team`, or until the user has answered.
    package private(set) var team: String?

    package enum Plan: String, Codable, Sendable, CaseIterable {
        case solo, team
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        age = try container.decodeIfPresent(BoundedCount<Int>.self, forKey: .age)?.wrappedValue
        plan = try container.decodeIfPresent(Plan.self, forKey: .plan)
        team = try container.decodeIfPresent(String.self, forKey: .team)
    }

    /// The draft with a new or changed answer.
    /// - Throws: ``Problem`` if the answer is not valid.
    package func answered(_ answer: Answer) throws(Problem) -> Draft {
        var draft = self
        switch answer {
        case .name(let name): draft.name = try Self.words(name, of: "Your name", limit: 50)
        case .age(let age): draft.age = try Self.age(age)
        case .plan(let plan):
            draft.plan = try Self.plan(plan)
            if draft.plan == .solo { draft.team = nil }
        case .team(let team):
            guard plan == .team else { throw Problem("Only the team plan has a team.") }
            draft.team = try Self.words(team, of: "The team's name", limit: 80)
        }
        return draft
    }

    /// True if all questions have been answered.
    package var isComplete: Bool {
        name != nil && age != nil && (plan == .solo || plan == .team && team != nil)
    }

    /// - Parameter limit: The maximum length, in characters.
    /// - Throws: ``Problem`` if the text is empty or longer.
    private static func words(_ text: String, of what: String, limit: Int) throws(Problem) -> String {
        let words = text.words.joined(separator: " ")
        guard !words.isEmpty else { throw Problem("\(what) is missing.") }
        guard words.count <= limit else { throw Problem("\(what) is too long; \(limit) letters are enough.") }
        return words
    }

    private static func age(_ text: String) throws(Problem) -> Int {
        guard let age = Int(text) else { throw Problem("Your age must be a whole number.") }
        guard (0...150).contains(age) else { throw Problem("Nobody is \(age) years old.") }
        guard age >= 13 else { throw Problem("You must be 13 or older.") }
        return age
    }

    private static func plan(_ text: String) throws(Problem) -> Plan {
        guard let plan = Plan(rawValue: text) else {
            throw Problem("Choose a plan: \(Plan.allCases.map(\.rawValue).joined(separator: " or ")).")
        }
        return plan
    }
}

extension Draft {
    /// An answer, as the user has typed it.
    package enum Answer: Hashable, Sendable {
        case name(String)
        case age(String)
        case plan(String)
        case team(String)
    }

    /// The error of an answer that is not valid, with a message for the user.
    package struct Problem: Error, Hashable {
        package let message: String

        init(_ message: String) {
            self.message = message
        }
    }
}
