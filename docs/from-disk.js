// Opened from disk, a browser lets no page read the index that search needs: say so instead of finding nothing.
if (location.protocol === "file:") {
  const input = document.querySelector(".md-search__input");
  if (input) {
    input.placeholder = "Search needs a server: mkdocs serve";
    input.disabled = true;
    input.setAttribute("aria-label", input.placeholder);
  }
}
