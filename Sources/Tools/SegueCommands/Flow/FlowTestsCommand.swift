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

            Explores the flow, and writes few scenarios that together take each rule and link that messages can lead to. \
            Their steps expect what the flow does now, so they find each later change.
            """)

    @Argument(help: FlowFile.help)
    var flow: String

    @Argument(help: ArgumentHelp("The folder for the scenarios. It is created if it is missing.", valueName: "folder"))
    var folder: String

    @OptionGroup var options: ExplorationOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("name a folder") }
    }

    /// The first line of the files, which are replaced when they are written again.
    private static let mark = "# Written by 'segue flow tests'."

    func run() async throws {
        let flow = try FlowFile(flow).flow()
        var explorer = FlowExplorer(
            [flow], messages: try options.messages().withoutAnswers, hasOthers: true, limit: options.states)
        explorer.explore()
        let stories = explorer.scenarios(in: 0)
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
            "\(count) \(cover.places.count - cover.missing.count) of \(cover.places.count) rules, links and answers")
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
