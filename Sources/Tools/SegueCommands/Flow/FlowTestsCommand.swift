internal import ArgumentParser
internal import FlowExploration
internal import FlowReview
internal import Foundation
internal import Navigation
internal import Support

struct FlowTestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tests", abstract: "Write scenarios that take every rule of a flow.",
        discussion: """
            segue flow tests shop.yaml tests        writes tests/scenario-1.yaml and so on
            segue flow run shop.yaml tests/scenario-1.yaml
            segue flow tests shop.yaml tests --mutants 100   also finds 100 mistakes

            Explores the flow, finds a shortest scenario for each rule and link that messages can lead to, and writes as few \
            of them as together take all. Their steps expect what the flow does now. They find changes of what they do, not \
            all changes: --mutants measures how many.

            With --mutants, makes one mistake at a time in the flow: a rule without a condition or an action, with another \
            screen or argument, or after the next rule. For a mistake that no scenario shows, one is added; if it changes \
            nothing in any explored state, it is counted as equal. The exit status is 1 if a mistake is missed.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: ArgumentHelp("The folder for the scenarios. It is created if it is missing.", valueName: "folder"))
    var folder: String

    @Option(help: "The number of mistakes to find.")
    var mutants = 0

    @Option(help: "Selects the mistakes. The same number selects the same ones.")
    var seed = 0

    @OptionGroup var options: ExplorationOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("name a folder") }
        if mutants < 0 { throw ValidationError("--mutants must be at least 0") }
    }

    /// The first line of the files, which are replaced when they are written again.
    private static let mark = "# Written by 'segue flow tests'."

    func run() async throws {
        let flow = try FlowFile(flow).flow()
        var explorer = FlowExplorer(
            [flow], messages: try options.messages().withoutAnswers, hasOthers: true, limit: options.states)
        let limits = ExplorationLimit.lines(of: explorer.explore().limits)
        let (scenarios, areFewest) = explorer.scenarios(in: 0)
        var search = try MutantSearch(scenarios, explorer)
        for mutant in FlowMutant.some(of: flow, count: mutants, seed: seed) { try search.add(mutant) }
        let stories = search.stories
        var cover = RuleCover(of: flow)
        for (index, story) in stories.enumerated() {
            cover.add(applied: story.places)
            try write("\(Self.mark)\n\(story.text)\n", to: path(index + 1))
        }
        // Those of a former flow would test something else.
        for number in (stories.count + 1)... {
            guard isOwn(path(number)) else { break }
            try? FileManager.default.removeItem(atPath: path(number))
        }
        let count = stories.count == 1 ? "1 scenario takes" : "\(stories.count) scenarios take"
        try await Console.output.writeLine(
            "\(count) \(cover.places.count - cover.missing.count) of \(cover.places.count) rules, links and answers"
                + (areFewest ? "" : "; fewer may do"))
        guard mutants > 0 else { return }
        for mutant in search.missed {
            try await Console.output.writeLine("no scenario shows \(mutant.rule) \(mutant.kind.rawValue)")
        }
        let mistakes = search.foundCount + search.equalCount + search.missed.count
        try await Console.output.writeLine(
            "\(search.foundCount) of \(mistakes) mistakes are found, \(search.equalCount) change nothing"
                + (limits.isEmpty ? "" : "; not proved: \(limits.joined(separator: "; "))"))
        if !search.missed.isEmpty { throw ExitCode.failure }
    }

    private func path(_ number: Int) -> String { "\(folder)/scenario-\(number).yaml" }

    /// True if this command has written a file.
    private func isOwn(_ path: String) -> Bool {
        (try? String(contentsOfFile: path, encoding: .utf8))?.begins(with: Self.mark) == true
    }

    private func write(_ text: String, to path: String) throws {
        do {
            if FileManager.default.fileExists(atPath: path), !isOwn(path) {
                throw CommandError(
                    code: "existing-file", "\(path) was not written by this command",
                    recovery: "name another folder, or remove the file", status: .ioError)
            }
            // check-lines: the folder is one of the source code, which others may read.
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // check-lines: scenarios are files of the source code.
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(
                code: "unwritable-file", "\(path) cannot be written", recovery: "name another folder",
                status: .ioError)
        }
    }
}
