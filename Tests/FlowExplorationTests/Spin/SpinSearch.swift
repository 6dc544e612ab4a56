import Foundation
import Navigation
import Support
import TestSupport

/// The states that spin finds in a model of a flow, and what it finds out about them.
struct SpinSearch {
    /// The states in the form that the model prints.
    private(set) var states: Set<String> = []
    /// The states that follow each state, other than itself.
    private(set) var successors: [String: Set<String>] = [:]
    /// The steps with their causes, as ``SpinCheck`` writes them.
    private(set) var steps: Set<String> = []
    /// The states that something leads out of the bounds of the exploration.
    private(set) var incomplete: Set<String> = []
    /// The number of states that spin has stored, without the one before the model has begun.
    private(set) var storedCount = 0
    /// The rules whose actions were `taken`, and those whose actions `failed`.
    private var rules: [Substring: Set<Int>] = [:]
    /// The states that properties are about, and those in which they hold: `about` and `holds`, by their numbers.
    private var properties: [Substring: [Int: Set<String>]] = [:]
    private let model: PromelaModel

    /// A search that has not come to its end, with what it printed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs spin, the compiler and the search.
    init(_ model: PromelaModel) async throws {
        self.model = model
        let folder = try ScratchFolder()
        defer { folder.remove() }
        try model.text.write(toFile: folder.path("model.pml"), atomically: true, encoding: .utf8)
        // The C compiler is Swift's; spin itself needs only its preprocessor.
        try await TestProgram("spin", ["-Pclang -E -x c", "-a", "model.pml"], in: folder.path).output()
        // One process makes no use of partial-order reduction.
        let options = ["-w", "-O0", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]
        try await TestProgram("clang", options, in: folder.path).output()
        let depth = 200_000
        let output = try await TestProgram(folder.path("pan"), ["-m\(depth)", "-w18"], in: folder.path).output()
        for line in output.lines { read(line.split(scalar: " ")) }
        guard output.contains(scalars: "errors: 0"), !output.contains(scalars: "max search depth too small") else {
            throw Failure(description: output.lines.filter { !$0.begins(with: "edge") }.joined(separator: "\n"))
        }
    }

    private mutating func read(_ words: [Substring]) {
        guard words.count > 1 else { return }
        switch words[0] {
        case "state": states.insert(String(words[1]))
        case "edge":
            successors[String(words[1]), default: []].insert(String(words[2]))
            steps.insert("\(words[3]): \(words[1]) to \(words[2])")
        case "beyond":
            incomplete.insert(String(words[1]))
            steps.insert("\(words[2]): \(words[1]) to a state at the bounds")
        case "taken", "failed": rules[words[0], default: []].insert(Int(words[1]) ?? -1)
        case "about", "holds":
            properties[words[0], default: [:]][Int(words[1]) ?? -1, default: []].insert(String(words[2]))
        default: if words[1] == "states,", words.last == "stored" { storedCount = (Int(words[0]) ?? 0) - 1 }
        }
    }
}

// The verdicts, in the words of the exploration.
extension SpinSearch {
    var unreachedScreens: [String] {
        Set(model.screens).subtracting(states.flatMap(model.screens(inState:))).sorted()
    }

    /// The places of the rules that never apply.
    var unusedPlaces: [String] {
        let used = (rules["taken"] ?? []).union(rules["failed"] ?? [])
        return model.flow.transitions.indices.filter { !used.contains($0) }.map { Flow.keyPath(ofRule: $0, in: nil) }
    }

    /// The places of the rules that always fail.
    var failingPlaces: [String] {
        (rules["failed"] ?? []).subtracting(rules["taken"] ?? []).map { Flow.keyPath(ofRule: $0, in: nil) }.sorted()
    }

    /// The places of the properties that do not hold, or are about no state.
    var violatedProperties: [String] {
        model.flow.properties.enumerated().compactMap { index, property in
            let about = properties["about"]?[index] ?? []
            let holds = properties["holds"]?[index] ?? []
            let place = Flow.keyPath(ofProperty: index)
            if about.isEmpty { return place }
            let isViolated =
                switch property.kind {
                case .never: !about.isDisjoint(with: holds)
                case .always: !about.isSubset(of: holds)
                case .canReach: !about.isSubset(of: statesLeading(to: holds))
                }
            return isViolated ? "\(place).\(property.kind.rawValue)" : nil
        }
    }

    /// The states from which one of these can be reached, or of which not all that follows is known.
    private func statesLeading(to goals: Set<String>) -> Set<String> {
        var predecessors: [String: [String]] = [:]
        for (state, next) in successors { for successor in next { predecessors[successor, default: []].append(state) } }
        var found = goals.union(incomplete)
        var waiting = Array(found)
        while let state = waiting.popLast() {
            for former in predecessors[state] ?? [] where found.insert(former).inserted { waiting.append(former) }
        }
        return found
    }
}
