import Foundation
import TestSupport

@testable import SegueCommands

/// The page of all verbs of `segue`.
struct CommandsPage {
    /// Options that at least this number of verbs have, with the same help, are listed once.
    private static let commonCount = 6

    private let options: [Option]

    init() async throws {
        let help = try await TestProgram(TestProgram.built("segue"), ["--experimental-dump-help"]).run()
        options = Self.common(try JSONDecoder().decode(Help.self, from: Data(help.output.utf8)).command)
    }

    var text: String {
        let verbs = Verb.groups.map { group in
            let rows = group.verbs.map { ["`\($0.example ?? "")`", $0.abstract, $0.exits] }
            return "## \(group.name)\n\n\(GeneratedPage.table(["Example", "What it does", "Exit status"], rows))\n"
        }
        let options = options.map { ["`\($0.form)`", $0.help, "\($0.count)", $0.statuses] }
        let statuses = ExitStatus.all.map { ["\($0.status)", $0.meaning, "`\($0.example)`"] }
        return """
            # Commands

            `make pages` writes this page from the help of `segue`. `segue VERB --help` has all options of a verb, and more
            examples; `segue --version` is the version. [Running](running.md), [Observing](observing.md),
            [Flows](flows.md) and [Contracts](contracts.md) explain how the verbs are used.

            Exit statuses that a row does not name are those of the [options](#options-of-many-commands) that a verb has, and
            of [all verbs](#exit-statuses).

            \(verbs.joined(separator: "\n"))
            ## Options of many commands

            \(GeneratedPage.table(["Option", "Meaning", "Commands", "Exit status"], options))

            ## Exit statuses

            Each error is a line on standard error that begins with `segue: `. Findings of checks are on standard output.

            ```sh
            \(ExitStatus.firstCommand)
            ```

            Without documents, this prints `segue: \(ExitStatus.firstError)` and `status 1`.

            \(GeneratedPage.table(["Status", "Meaning", "Example"], statuses))

            A command ends with 0 if the reader of its output has ended.

            """
    }

    /// The options that many verbs have, in the order in which verbs list them.
    private static func common(_ root: Help.Command) -> [Option] {
        var options: [Option] = []
        for argument in root.leaves.flatMap(\.options) {
            if let index = options.firstIndex(where: { $0.form == argument.form && $0.help == argument.abstract }) {
                options[index].count += 1
            } else {
                options.append(Option(form: argument.form, help: argument.abstract ?? "", count: 1))
            }
        }
        return options.filter { $0.count >= commonCount && !["--version", "-h, --help"].contains($0.form) }
    }

    private struct Option {
        let form: String
        let help: String
        /// The number of verbs that have the option.
        var count: Int

        /// The exit statuses that a wrong value of the option leads to.
        var statuses: String {
            if form.hasPrefix("--bus") { return "69 if no broker answers, 77 if the key is refused, 78 if invalid" }
            if form.hasPrefix("-f") { return "66 if it cannot be read, 78 if invalid" }
            return form.hasPrefix("-p") ? "78 if invalid" : ""
        }
    }

    /// The part that this page needs of what `--experimental-dump-help` prints.
    private struct Help: Decodable {
        let command: Command

        struct Command: Decodable {
            let commandName: String
            let shouldDisplay: Bool?
            let arguments: [Argument]?
            let subcommands: [Command]?

            /// The verbs below this command that people use.
            var leaves: [Command] {
                guard shouldDisplay ?? true, commandName != "help" else { return [] }
                guard let subcommands, !subcommands.isEmpty else { return [self] }
                return subcommands.flatMap(\.leaves)
            }

            var options: [Argument] {
                (arguments ?? []).filter { $0.kind != "positional" && ($0.shouldDisplay ?? true) }
            }
        }

        struct Argument: Decodable {
            let kind: String
            let abstract: String?
            let valueName: String?
            let shouldDisplay: Bool?
            let names: [Name]?

            struct Name: Decodable {
                let kind: String
                let name: String
            }

            var form: String {
                let names = (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }.joined(separator: ", ")
                return kind == "option" ? "\(names) \((valueName ?? "value").uppercased())" : names
            }
        }
    }
}

/// An exit status of `segue`.
struct ExitStatus {
    let status: Int32
    let meaning: String
    /// A command that ends with it, in a folder with a stack, on a bus without services and documents.
    let example: String

    static let firstCommand = #"segue get Menu || echo "status $?""#
    static let firstError = "there is no document Menu; there are no documents yet"

    static let all =
        [ExitStatus(status: 0, meaning: "Success.", example: "segue ls")]
        + CommandStatus.allCases.map { ExitStatus(status: $0.rawValue, meaning: $0.meaning, example: $0.example) }
        + [
            ExitStatus(
                status: 130,
                meaning: "Ctrl-C (`record` and `up` end with 0); after another signal, 128 + its number.",
                example: "timeout --preserve-status -s INT 1 segue monitor --stats")
        ]
}

extension CommandStatus {
    fileprivate var meaning: String {
        switch self {
        case .failure: "The result is negative, or no other status fits."
        case .usage: "The command line is invalid."
        case .dataError:
            "A message, standard input, a recording or a contract is invalid, or the bus refuses a message."
        case .noInput: "A file does not exist or cannot be read."
        case .unavailable: "No broker answers, no process serves the query, or a program cannot be started."
        case .ioError: "Output, the journal or a file of the project cannot be read or written."
        case .temporaryFailure: "A message, an answer or readiness did not come in time; a retry may succeed."
        case .noPermission: "The key is not accepted, or does not allow the request."
        case .configuration: "A compose file or a file of it, a flow, a key, an address or a name is invalid."
        }
    }

    fileprivate var example: String {
        switch self {
        case .failure: "segue get Menu"
        case .usage: "segue get"
        case .dataError: "segue send event.LaunchFinished '{'"
        case .noInput: "segue flow check missing.yaml"
        case .unavailable: "segue ask Nothing"
        case .ioError: "segue ls > /dev/full"
        case .temporaryFailure: "segue send event.LaunchFinished --await event.Nothing --timeout 100ms"
        case .noPermission: "segue keys init > init.txt && SEGUE_BUS_CURVE=keys/broker.key segue services"
        case .configuration: "segue ps -p 'Not a name'"
        }
    }
}
