internal import ArgumentParser
package import Monitor

extension SourcePattern: ExpressibleByArgument {
    package init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}
