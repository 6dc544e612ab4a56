package import ArgumentParser

package struct RecordCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Writes the messages of the bus to a file, and says what is in such a file.",
        discussion: """
            \(examples)
            segue record info story.jsonl

            One JSON object a line: a header, then each message as
            'segue monitor --json' shows it. 'segue replay' tells such a story to a
            bus, 'segue flow run --recording' to a flow. The options are those of
            'segue record to --help'.
            """,
        subcommands: [RecordToCommand.self, RecordInfoCommand.self], defaultSubcommand: RecordToCommand.self)

    static let examples = """
        segue record story.jsonl                     from now on, until Ctrl-C
        segue record all.jsonl --since beginning --until end
        segue record taps.jsonl --type 'command.*' --count 20
        segue record - --for 1m | gzip > story.jsonl.gz
        """

    package init() {}
}
