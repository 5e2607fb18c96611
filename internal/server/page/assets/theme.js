// Light or dark: what the reader chose last, or else what the system prefers. It runs before
// the page is drawn.
{
  const root = document.documentElement;
  const apply = (theme) => (theme ? root.setAttribute("data-theme", theme) : root.removeAttribute("data-theme"));
  const read = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const write = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* it holds for this visit */ } };
  apply(read());
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("#theme")) return;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = dark ? "light" : "dark";
    apply(theme);
    write(theme);
  });
}
