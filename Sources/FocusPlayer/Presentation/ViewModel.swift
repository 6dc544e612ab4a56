/// Turns documents into what one screen shows. A value: equal documents give equal content.
package protocol ViewModel: Sendable {
    /// - Parameters:
    ///   - documents: the newest ones.
    ///   - arguments: of the screen's instance: identifiers, never content.
    init(documents: LatestDocuments, arguments: [String: String])

    var content: ScreenContent { get }
}
