/// What views tell the machine of their platform. It answers these itself, in every flow alike.
package enum ViewReport: String, CaseIterable {
    case screenDisplayed = "command.ScreenDisplayed"
    case backStarted = "command.BackStarted"
    case backCancelled = "command.BackCancelled"
    case backCompleted = "command.BackCompleted"
    case presentationDismissed = "command.PresentationDismissed"
    case alertAnswered = "command.AlertAnswered"
    case tabSelected = "command.TabSelected"
    case screenGone = "command.ScreenGone"
}
