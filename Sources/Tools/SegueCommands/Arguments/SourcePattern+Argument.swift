internal import ArgumentParser
package import Monitor

extension SourcePattern: FormedArgument {
    package static let forms = "a process such as music-service, or a pattern such as 'device/*'"

    package init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}
